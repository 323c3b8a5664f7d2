package chat_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestADocumentNamedAuto is an agent like another.
func TestADocumentNamedAuto(t *testing.T) {
	models := everybody()
	models["auto"] = repeats("Auto.")
	s := stage(t, chat.Options{Store: newStore(t), Classifier: byRules()}, models, append(office(), desk("auto", "")), action(t))
	if got := says(t, s, auto(t.Context(), "s1"), "My invoice"); got != "auto" {
		t.Errorf("%s answers", got)
	}
}

// TestRoutingSeesChangedDocuments with the next turn.
func TestRoutingSeesChangedDocuments(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("general", desk("general", ""))
	write("bills", desk("bills", "routing: {keywords: [invoice]}"))
	found, err := catalog.New(catalog.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	models := everybody()
	models["general"] = repeats("General.")
	kept := newStore(t)
	s, err := chat.New(chat.Options{Catalog: found, Models: models, Store: kept, Tools: registry(t, newEcho(t), action(t))})
	if err != nil {
		t.Fatal(err)
	}
	ctx := auto(t.Context(), "s1")
	step := func(message, want string) {
		t.Helper()
		if got := says(t, s, ctx, message); got != want {
			t.Errorf("%q: %s answers, want %s", message, got, want)
		}
	}
	step("My receipt", "general")
	write("bills", desk("bills", "routing: {keywords: [invoice, receipt]}"))
	step("My receipt", "bills")
	step("And now?", "bills")
	write("travel", desk("travel", "routing: {keywords: [train]}"))
	step("A train", "travel")
	write("travel", desk("travel", "routing: {keywords: [train]}\nrouting_enabled: false"))
	step("And now?", "general")
	step("My receipt", "bills")
	if err := os.Remove(filepath.Join(dir, "bills.yaml")); err != nil {
		t.Fatal(err)
	}
	step("My receipt", "general")
}

// TestARoutedRunThatPauses keeps what it said about the routing before.
func TestARoutedRunThatPauses(t *testing.T) {
	documents := office()
	documents[1] = strings.Replace(documents[1], "echo]", "{name: echo, approval: always}]", 1)
	kept, models := newStore(t), everybody()
	models["bills"] = scripted.New(scripted.Call("action", `{"type":"complete"}`), scripted.Turn{Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}})
	s := stage(t, chat.Options{Store: kept, Classifier: byRules()}, models, documents, action(t))
	ctx := auto(t.Context(), "s1")
	asked := find[*event.ActionRequestData](t, turn(t, s, ctx, "My invoice"))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	models["bills"] = scripted.New(scripted.Text("Paid."))
	s = stage(t, chat.Options{Store: kept, Classifier: byRules()}, models, documents, action(t))
	_, again, err := s.Decide(ctx, asked.RequestID, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	drain(t, again)
	if state := stateOf(t, kept, ctx, "s1"); state.State != "complete" {
		t.Errorf("%+v", state)
	}
}

// TestTheSuccessorIsGone: the agent that handed the session over has it again.
func TestTheSuccessorIsGone(t *testing.T) {
	kept, models := newStore(t), everybody()
	models["desk"] = scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"bare"}`), scripted.Text("Desk."), scripted.Text("Desk."))
	named := office()
	named[0] = desk("desk", "agents: [bare]")
	s := stage(t, chat.Options{Store: kept}, models, named)
	ctx := auto(t.Context(), "s1")
	ask := func(s *chat.Service, want string) {
		t.Helper()
		if got := answers(t, s, ctx, chat.Request{Agent: "desk", Input: "Hello"}); got != want {
			t.Errorf("%s answers, want %s", got, want)
		}
	}
	ask(s, "desk")
	ask(s, "bare")
	left := slices.DeleteFunc(slices.Clone(named), func(d string) bool { return strings.Contains(d, "name: bare\n") })
	s = stage(t, chat.Options{Store: kept}, models, left)
	for range 2 {
		ask(s, "desk")
		if state := stateOf(t, kept, ctx, "s1"); !state.None() {
			t.Errorf("%+v", state)
		}
	}
}
