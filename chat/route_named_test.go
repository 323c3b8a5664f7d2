package chat_test

import (
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm/scripted"
)

// TestANamedAgentInARoutedSession answers, and leaves the routing as it is.
func TestANamedAgentInARoutedSession(t *testing.T) {
	kept, models := newStore(t), everybody()
	models["travel"] = scripted.New(scripted.Call("action", `{"type":"complete"}`), scripted.Text("Yes."), scripted.Call("transfer_to_agent", `{"agent_name":"bare"}`))
	s := stage(t, chat.Options{Store: kept, Classifier: byRules()}, models, office(), action(t))
	ctx := auto(t.Context(), "s1")
	says(t, s, ctx, "My invoice")
	was := stateOf(t, kept, ctx, "s1")
	for range 2 {
		if got := answers(t, s, ctx, chat.Request{Agent: "travel", Input: "A train"}); got != "travel" {
			t.Errorf("%s answers", got)
		}
	}
	if got := answers(t, s, ctx, chat.Request{Agent: "bills", Input: "Hm"}); got != "bills" {
		t.Errorf("%s answers", got)
	}
	if now := stateOf(t, kept, ctx, "s1"); !now.Equal(was) {
		t.Errorf("%+v, was %+v", now, was)
	}
	if got := says(t, s, ctx, "And?"); got != "bills" {
		t.Errorf("%s answers", got)
	}
}

// TestAHandOverInARoutedSession: who took over has the session, as a part of the routing.
func TestAHandOverInARoutedSession(t *testing.T) {
	kept, c, models := newStore(t), byRules(), everybody()
	models["bills"] = scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"bare","reason":"It knows."}`))
	s := stage(t, chat.Options{Store: kept, Classifier: c}, models, office(), action(t))
	ctx := auto(t.Context(), "s1")
	says(t, s, ctx, "My invoice")
	state := stateOf(t, kept, ctx, "s1")
	if state.Active != "bare" || state.State != "executing" || state.Turns != 1 || !state.Auto || state.Fallback != "desk" || len(state.Delegation) != 1 {
		t.Errorf("%+v", state)
	}
	if got := says(t, s, ctx, "And now?"); got != "bare" || c.asked != 1 {
		t.Errorf("%s answers, asked %d times", got, c.asked)
	}
	if got := says(t, s, ctx, "A train"); got != "travel" {
		t.Errorf("%s answers", got)
	}
}

// TestAHandedOverSessionThatIsLeftToP8 is routed from then on.
func TestAHandedOverSessionThatIsLeftToP8(t *testing.T) {
	kept, models := newStore(t), everybody()
	models["desk"] = scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"bare"}`))
	s := stage(t, chat.Options{Store: kept, Classifier: byRules()}, models, office(), action(t))
	if got := says(t, s, as(t.Context(), "alice", "s1"), "Go"); got != "desk" {
		t.Errorf("%s was asked", got)
	}
	ctx := auto(t.Context(), "s1")
	if got := says(t, s, ctx, "A train"); got != "travel" || !stateOf(t, kept, ctx, "s1").Auto {
		t.Errorf("%s answers", got)
	}
}
