package chat_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm/scripted"
)

// TestResumedRunKeepsItsVersion: a run that is resumed goes on with the document that it began
// with; the next turn has the new one. Runs record which they had.
func TestResumedRunKeepsItsVersion(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	put := func(text string) {
		t.Helper()
		_, row, err := catalog.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.PutSchema(ctx, &row); err != nil {
			t.Fatal(err)
		}
	}
	service := func(m *scripted.Model) *chat.Service {
		t.Helper()
		docs, err := catalog.New(catalog.Options{Store: db})
		if err != nil {
			t.Fatal(err)
		}
		o := quiet(db)
		o.Catalog, o.Models, o.Tools = docs, models{m}, registry(t)
		s, err := chat.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const old = "name: clerk\nversion: 1.0.0\ndescription: You are the first clerk.\n"
	put(old)
	first := service(scripted.New(scripted.Turn{Text: []string{"One ", "x"}, Before: scripted.Until(1, make(chan struct{}))}))
	started, err := first.Start(ctx, chat.Request{Agent: "clerk", Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	awaitStored(t, db, ctx, started.RunID, saidText("One "))
	kill(t, db, first)
	put(strings.NewReplacer("first", "second", "1.0.0", "1.0.1").Replace(old))

	model := scripted.New(scripted.Text("Done."), scripted.Text("Again."))
	second := service(model)
	resumed(t, db, second)
	turn, _, err := second.Open(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	drain(t, turn)
	next, err := second.Start(ctx, chat.Request{Agent: "clerk", Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, next)
	for i, want := range []string{"first clerk", "second clerk"} {
		if got := model.Requests()[i].Messages[0].Content; !strings.Contains(got, want) {
			t.Errorf("request %d: %q", i, got)
		}
	}
	for id, want := range map[string]string{started.RunID: "1.0.0", next.RunID: "1.0.1"} {
		if r, err := db.Run(ctx, id); err != nil || r.AgentVersion != want || len(r.AgentHash) != 64 {
			t.Errorf("%+v %v, want version %s", r, err, want)
		}
	}
}
