package chat_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// older is a store as an earlier version wrote to it: its journal named a tool call's id
// call_id.
type older struct{ *store.Store }

func (o older) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	w.Journal = slices.Clone(w.Journal)
	for i := range w.Journal {
		w.Journal[i].Data = bytes.Replace(w.Journal[i].Data, []byte(`"tool_id":`), []byte(`"call_id":`), 1)
	}
	return o.Store.WriteRun(ctx, w)
}

// TestAJournalOfAnEarlierVersion: a run that waits since before an upgrade does not repeat
// the call that it has finished.
func TestAJournalOfAnEarlierVersion(t *testing.T) {
	db, pay := newStore(t), newNoted(t, "pay", false)
	o := chat.Options{Store: older{db}, Tools: registry(t, newEcho(t), pay)}
	const document = careful + "  - name: pay\n"
	before := newService(t, scripted.New(scripted.Turn{Calls: []llm.ToolCall{
		{ID: "a", Name: "echo", Arguments: `{"text":"a"}`}, {ID: "b", Name: "pay", Arguments: `{"text":"b"}`},
	}}), o, document)
	ctx := as(t.Context(), "alice", "s1")
	asked := find[*event.ActionRequestData](t, turn(t, before, ctx, "Go"))
	if err := before.Close(ctx); err != nil {
		t.Fatal(err)
	}
	o.Store = db
	model := scripted.New(scripted.Text("Paid."))
	_, again, err := newService(t, model, o, document).Decide(ctx, asked.RequestID, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
		t.Errorf("%q", got)
	}
	if made := pay.made(); len(made) != 1 {
		t.Errorf("the calls are %q", made)
	}
	if last := model.Requests()[0].Messages; !strings.Contains(last[len(last)-1].Content, "pay did b") {
		t.Errorf("the model reads %s", conversation(model.Requests()[0]))
	}
}
