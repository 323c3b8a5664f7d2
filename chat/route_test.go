package chat_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// desk is a document that may be routed to; its model has its name.
func desk(name, more string) string {
	return "type: object\nname: " + name + "\ndescription: You are " + name + ".\nmodel: s:" + name + "\ntools: [action, transfer_to_agent, echo]\n" + more + "\n"
}

// office are agents to route to; the first is the fallback.
func office() []string {
	return []string{
		desk("desk", ""),
		desk("bills", "routing: {keywords: [invoice], examples: [What do I owe Nordwind?]}\nrouting_max_turns: 3"),
		desk("travel", "routing: {keywords: [train]}"),
		desk("shy", "routing: {keywords: [secret]}\nrouting_enabled: false"),
		desk("bare", ""),
	}
}

// repeats is a model that says the same again and again.
func repeats(text string) llm.Model {
	return scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text(text))
}

// counted is a classifier that counts.
type counted struct {
	routing.Classifier
	asked int
	saw   []routing.Input
}

func (c *counted) Classify(ctx context.Context, in routing.Input) (routing.Decision, error) {
	c.asked++
	c.saw = append(c.saw, in)
	return c.Classifier.Classify(ctx, in)
}

func byRules() *counted { return &counted{Classifier: routing.Rules()} }

func action(t testing.TB) tool.Tool {
	t.Helper()
	a, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// auto is a caller who leaves the choice to p8.
func auto(ctx context.Context, session string) context.Context {
	return identity.With(ctx, identity.Identity{UserID: "alice", SessionID: session, AgentSchemaURI: "auto"})
}

// answers runs a turn and gives who answered.
func answers(t testing.TB, s *chat.Service, ctx context.Context, req chat.Request) string {
	t.Helper()
	started, err := s.Start(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range drain(t, started) {
		if d, ok := e.Data.(*event.DoneData); ok && d.Reason == event.ReasonError {
			t.Errorf("the turn failed")
		}
	}
	return started.Agent
}

// says is answers to a message.
func says(t testing.TB, s *chat.Service, ctx context.Context, message string) string {
	t.Helper()
	return answers(t, s, ctx, chat.Request{Input: message})
}

// stateOf is the session's stored routing.
func stateOf(t testing.TB, kept *store.Store, ctx context.Context, session string) routing.State {
	t.Helper()
	sess, err := kept.Session(ctx, session)
	if err != nil {
		t.Fatal(err)
	}
	return routing.Read(sess.Metadata)
}

func everybody() cast {
	return cast{"desk": repeats("Desk."), "bills": repeats("Bills."), "travel": repeats("Travel."), "shy": repeats("Shy."), "bare": repeats("Bare.")}
}

// TestASessionIsRouted: it finds its agent, stays with it without being classified,
// leaves it with another matter, and is looked at anew when the turns are used up.
func TestASessionIsRouted(t *testing.T) {
	kept, c := newStore(t), byRules()
	s := stage(t, chat.Options{Store: kept, Classifier: c}, everybody(), office(), action(t))
	ctx := auto(t.Context(), "s1")
	for i, tc := range []struct {
		message, want, state string
		asked, turns         int
	}{
		{"Hello", "desk", "idle", 1, 0},
		{"My invoice", "bills", "executing", 2, 1},
		{"And now?", "bills", "executing", 2, 2},
		{"And then?", "bills", "re-evaluate", 2, 3},
		{"What do I owe Nordwind?", "bills", "executing", 3, 1},
		{"I need a train", "travel", "executing", 4, 1},
		{"A train for my invoice", "travel", "executing", 4, 2},
		{"Go on", "travel", "executing", 4, 3},
		{"The secret", "travel", "executing", 4, 4},
	} {
		if got := says(t, s, ctx, tc.message); got != tc.want {
			t.Errorf("%d: %s answers, want %s", i, got, tc.want)
		}
		if state := stateOf(t, kept, ctx, "s1"); c.asked != tc.asked || state.State != tc.state || state.Turns != tc.turns || state.Active != tc.want || state.Fallback != "desk" {
			t.Errorf("%d: asked %d times: %+v", i, c.asked, state)
		}
	}
	if last := c.saw[len(c.saw)-1]; len(last.History) != 6 || last.History[5].Content != "Bills." || last.History[4].Content != "What do I owe Nordwind?" {
		t.Errorf("the classifier saw %+v", last.History)
	}
	if got := says(t, s, auto(t.Context(), "s2"), "My invoice"); got != "bills" {
		t.Errorf("another session: %s", got)
	}
}

// TestTheModelSeesItsRouting in the context of its prompt, and how it gives the session
// back.
func TestTheModelSeesItsRouting(t *testing.T) {
	bills := scripted.New(scripted.Text("Bills."))
	models := everybody()
	models["bills"] = bills
	s := stage(t, chat.Options{Store: newStore(t), Classifier: byRules()}, models, office(), action(t))
	says(t, s, auto(t.Context(), "s1"), "My invoice")
	req := bills.Requests()[0]
	want := `Routing: {"active_agent":"bills","state":"executing","turn_count":0,"max_turns":3,"fallback":"desk","auto":true,"reason":"it has the keyword \"invoice\""}`
	if !strings.Contains(req.Messages[1].Content, want) {
		t.Errorf("%s", req.Messages[1].Content)
	}
	for _, spec := range req.Tools {
		if spec.Name == "action" && !strings.Contains(spec.Description, "escalate") {
			t.Errorf("%s", spec.Description)
		}
	}
}

func TestAnAgentIsDone(t *testing.T) {
	kept, c, models := newStore(t), byRules(), everybody()
	models["bills"] = scripted.New(scripted.Text("Which one?"), scripted.Call("action", `{"type":"complete"}`), scripted.Text("Paid."), scripted.Text("Again?"))
	s := stage(t, chat.Options{Store: kept, Classifier: c}, models, office(), action(t))
	ctx := auto(t.Context(), "s1")
	says(t, s, ctx, "My invoice")
	says(t, s, ctx, "That one")
	if state := stateOf(t, kept, ctx, "s1"); state.State != "complete" || c.asked != 1 {
		t.Errorf("%+v, asked %d times", state, c.asked)
	}
	if got := says(t, s, ctx, "Thanks"); got != "desk" || c.asked != 2 {
		t.Errorf("%s answers, asked %d times", got, c.asked)
	}
	if got := says(t, s, ctx, "Another invoice"); got != "bills" {
		t.Errorf("%s answers", got)
	}
}

func TestAnAgentGivesUp(t *testing.T) {
	for _, tc := range []struct{ name, payload, escalation, want string }{
		{"to nobody in particular", `{"reason":"I cannot."}`, "", "desk"},
		{"to the session's own", `{"reason":"I cannot."}`, "bare", "bare"},
		{"to whom it knows", `{"reason":"I cannot.","agent":"travel"}`, "bare", "travel"},
		{"to somebody who may not", `{"agent":"shy"}`, "", "desk"},
		{"to somebody who is not there", `{"agent":"nobody"}`, "bare", "bare"},
		{"in words of its own", `{"agent":["travel"]}`, "", "desk"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept, c, models := newStore(t), byRules(), everybody()
			models["bills"] = scripted.New(scripted.Call("action", `{"type":"escalate","payload":`+tc.payload+`}`), scripted.Text("Sorry."))
			s := stage(t, chat.Options{Store: kept, Classifier: c}, models, office(), action(t))
			ctx := auto(t.Context(), "s1")
			state := routing.Start("desk")
			state.Escalation = tc.escalation
			var metadata map[string]any
			if err := json.Unmarshal(state.Patch(), &metadata); err != nil {
				t.Fatal(err)
			}
			answers(t, s, ctx, chat.Request{Input: "My invoice", SessionMetadata: metadata})
			if state := stateOf(t, kept, ctx, "s1"); state.State != "escalated" || state.Active != tc.want || len(state.Delegation) != 1 {
				t.Errorf("%+v", state)
			}
			if got := says(t, s, ctx, "And now, the invoice?"); got != tc.want || c.asked != 1 {
				t.Errorf("%s answers, asked %d times", got, c.asked)
			}
			if state := stateOf(t, kept, ctx, "s1"); state.State != "executing" || state.Turns > 1 {
				t.Errorf("%+v", state)
			}
		})
	}
}

// TestWithoutASession each turn is routed for itself, by what the client brings.
func TestWithoutASession(t *testing.T) {
	for name, kept := range map[string]chat.Store{"nothing is stored": nil, "no session is named": newStore(t)} {
		c := byRules()
		s := stage(t, chat.Options{Store: kept, Classifier: c}, everybody(), office(), action(t))
		ctx := auto(t.Context(), "")
		history := []llm.Message{{Role: llm.User, Content: "My invoice"}, {Role: llm.Assistant, Content: "Bills."}}
		for _, want := range []string{"bills", "bills"} {
			if got := answers(t, s, ctx, chat.Request{Input: "My invoice", History: history}); got != want {
				t.Errorf("%s: %s answers, want %s", name, got, want)
			}
		}
		if c.asked != 2 || len(c.saw[1].History) != 2 {
			t.Errorf("%s: asked %d times, %+v", name, c.asked, c.saw[1].History)
		}
	}
}

// TestAnAnswerThatIsMadeAgain comes from who has the session; where nobody has, the
// message that it answers is what is classified.
func TestAnAnswerThatIsMadeAgain(t *testing.T) {
	c := byRules()
	s := stage(t, chat.Options{Store: newStore(t), Classifier: c}, everybody(), office(), action(t))
	ctx := auto(t.Context(), "s1")
	answers(t, s, ctx, chat.Request{Agent: "bare", Input: "My invoice"})
	for range 2 {
		if got := answers(t, s, ctx, chat.Request{Regenerate: true}); got != "bills" || c.asked != 1 {
			t.Errorf("%s answers, asked %d times", got, c.asked)
		}
	}
}
