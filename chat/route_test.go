package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"p8/catalog"
	"p8/chat"
	"p8/event"
	"p8/identity"
	"p8/llm"
	"p8/llm/scripted"
	"p8/routing"
	"p8/store"
	"p8/tool"
	"p8/tool/builtin"
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
func stateOf(t testing.TB, kept *chat.MemoryStore, ctx context.Context, session string) routing.State {
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
	kept, c := &chat.MemoryStore{}, byRules()
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
	s := stage(t, chat.Options{Store: &chat.MemoryStore{}, Classifier: byRules()}, models, office(), action(t))
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
	kept, c, models := &chat.MemoryStore{}, byRules(), everybody()
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
			kept, c, models := &chat.MemoryStore{}, byRules(), everybody()
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

// TestANamedAgentInARoutedSession answers, and leaves the routing as it is.
func TestANamedAgentInARoutedSession(t *testing.T) {
	kept, models := &chat.MemoryStore{}, everybody()
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
	kept, c, models := &chat.MemoryStore{}, byRules(), everybody()
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
	kept, models := &chat.MemoryStore{}, everybody()
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

// TestWithoutASession each turn is routed for itself, by what the client brings.
func TestWithoutASession(t *testing.T) {
	for name, kept := range map[string]chat.Store{"nothing is stored": nil, "no session is named": &chat.MemoryStore{}} {
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
	s := stage(t, chat.Options{Store: &chat.MemoryStore{}, Classifier: c}, everybody(), office(), action(t))
	ctx := auto(t.Context(), "s1")
	answers(t, s, ctx, chat.Request{Agent: "bare", Input: "My invoice"})
	for range 2 {
		if got := answers(t, s, ctx, chat.Request{Regenerate: true}); got != "bills" || c.asked != 1 {
			t.Errorf("%s answers, asked %d times", got, c.asked)
		}
	}
}

// TestADocumentNamedAuto is an agent like another.
func TestADocumentNamedAuto(t *testing.T) {
	models := everybody()
	models["auto"] = repeats("Auto.")
	s := stage(t, chat.Options{Store: &chat.MemoryStore{}, Classifier: byRules()}, models, append(office(), desk("auto", "")), action(t))
	if got := says(t, s, auto(t.Context(), "s1"), "My invoice"); got != "auto" {
		t.Errorf("%s answers", got)
	}
}

// TestClassificationNeedNotWork: the fallback answers, and the turn goes on.
func TestClassificationNeedNotWork(t *testing.T) {
	kept, c := &chat.MemoryStore{}, &counted{Classifier: unable{}}
	s := stage(t, chat.Options{Store: kept, Classifier: c}, everybody(), office(), action(t))
	ctx := auto(t.Context(), "s1")
	for range 2 {
		started, err := s.Start(ctx, chat.Request{Input: "My invoice"})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range drain(t, started) {
			if e.Type == event.Warning || e.Type == event.Error {
				t.Errorf("%+v", e.Data)
			}
		}
		if started.Agent != "desk" || stateOf(t, kept, ctx, "s1").State != "idle" {
			t.Errorf("%s answers", started.Agent)
		}
	}
}

type unable struct{}

func (unable) Classify(context.Context, routing.Input) (routing.Decision, error) {
	return routing.Decision{}, errors.New("down")
}

// TestAModelChooses where the rules are not sure: the fallback document's routing_model,
// else the default one.
func TestAModelChooses(t *testing.T) {
	for _, tc := range []struct{ more, model string }{{"", "chooser"}, {"routing_model: s:other", "other"}, {"routing_model: s:gone", ""}} {
		chooser := scripted.New(scripted.Call(llm.OutputTool, `{"agent":"travel","confidence":0.9,"reason":"It is far."}`))
		models := everybody()
		models["chooser"], models["other"] = scripted.New(), scripted.New()
		models[tc.model] = chooser
		documents := office()
		documents[0] = desk("desk", tc.more+"\nagents: [{name: bare, description: The rest}]")
		kept := &chat.MemoryStore{}
		s := stage(t, chat.Options{Store: kept, DefaultModel: "s:chooser"}, models, documents, action(t))
		ctx := auto(t.Context(), "s1")
		want := "travel"
		if tc.model == "" {
			want = "desk"
		}
		if got := says(t, s, ctx, "I want to see Lisbon"); got != want {
			t.Errorf("%+v: %s answers", tc, got)
		}
		if tc.model == "" {
			continue
		}
		asked := chooser.Requests()[0].Messages
		if prompt := asked[0].Content; !strings.Contains(prompt, "- bare: The rest\n- bills: You are bills.\n- travel: ") || strings.Contains(prompt, "shy") || strings.Contains(prompt, "desk") {
			t.Errorf("%s", prompt)
		}
		if asked[1].Content != `{"message":"I want to see Lisbon"}` {
			t.Errorf("%s", asked[1].Content)
		}
		if got := says(t, s, ctx, "My invoice"); got != "bills" { // no model is needed
			t.Errorf("%s answers", got)
		}
		chooser.AssertDone(t)
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
	kept := &chat.MemoryStore{}
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
	kept, models := &chat.MemoryStore{}, everybody()
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
