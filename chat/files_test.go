package chat_test

import (
	"context"
	"errors"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// TestFilesOutliveTheirProcess: the files of a delegated agent's call are shown once, also to
// readers who come after the process has died. The rows have the result's words alone.
func TestFilesOutliveTheirProcess(t *testing.T) {
	draw, err := tool.New("draw", "Draws.", func(context.Context, struct{}) (any, error) {
		return tool.Result{Content: "[a picture and a bell]", Parts: []llm.Part{png("dot.png")}, Files: []event.File{{MediaType: "audio/wav", Data: []byte("ding")}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	never := make(chan struct{})
	before := cast{"boss": scripted.New(asks("worker", "Draw")), "worker": scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{{ID: "d", Name: "draw", Arguments: "{}"}}},
		scripted.Turn{Text: []string{"I drew", "never"}, Before: scripted.Until(1, never)},
	)}
	after := cast{"boss": scripted.New(scripted.Text("Done.")), "worker": scripted.New(scripted.Turn{Text: []string{"I drew it."}, Check: func(r *llm.Request) error {
		if m := r.Messages[len(r.Messages)-1]; len(m.Parts) != 1 || m.Parts[0].Name != "dot.png" {
			return errors.New("the model lost the picture")
		}
		return nil
	}})}
	db := embedded(t)
	documents := []string{flatNamed("boss", ""), "type: object\nname: worker\ndescription: You draw.\nmodel: s:worker\ntools: [draw]\n"}
	ctx := as(t.Context(), "alice", "s1")
	first, second := stage(t, quiet(db), before, documents, draw), stage(t, quiet(db), after, documents, draw)
	started, err := first.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	awaitStored(t, db, ctx, started.RunID, saidText("I drew"))
	kill(t, db, first)
	resumed(t, db, second)
	late, _, err := second.Open(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, e := range drain(t, late) {
		d, ok := e.Data.(*event.ToolCallData)
		if !ok || len(d.Files) == 0 {
			continue
		}
		shown++
		if len(d.Files) != 2 || d.Name != "draw" || d.Files[0].Name != "dot.png" || string(d.Files[0].Data) != string(png("").Data) || string(d.Files[1].Data) != "ding" {
			t.Errorf("%s has the files %+v", d.Name, d.Files)
		}
	}
	if shown != 1 {
		t.Errorf("the files are shown %d times", shown)
	}
	rows, err := db.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageToolResponse}, Parts: true})
	if err != nil || len(rows) == 0 || *rows[0].Content != "[a picture and a bell]" || len(rows[0].Parts) != 0 {
		t.Errorf("%+v %v", rows, err)
	}
	after.done(t)
}
