package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

const cook = `
name: cook
description: You write recipes.
tools: [echo]
state:
  properties:
    title: {type: string}
    steps: {type: array, items: {type: string, minLength: 2}}
    page: {type: string}
  additionalProperties: false
predict_state:
  - steps
  - {state_key: page, tool: echo, tool_argument: text}
`

// states are the state events of a turn: a snapshot, or what changed.
func states(events []event.Event) (list []string) {
	for _, e := range events {
		if d, ok := e.Data.(*event.StateData); ok {
			if d.Delta != nil {
				list = append(list, "change "+string(d.Delta))
			} else {
				list = append(list, string(d.State))
			}
		}
	}
	return list
}

// storedState is what the session's row has.
func storedState(t *testing.T, db *store.Store, ctx context.Context, session string) string {
	t.Helper()
	s, err := db.Session(ctx, session)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := memory.SplitState(s.Metadata)
	return string(state)
}

func system(r *llm.Request) (text string) {
	for _, m := range r.Messages {
		if m.Role == llm.System {
			text += m.Content + "\n"
		}
	}
	return text
}

func share(t *testing.T, s *chat.Service, ctx context.Context, state string) []event.Event {
	t.Helper()
	started, err := s.Start(ctx, chat.Request{Input: "x", State: json.RawMessage(state)})
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, started)
}

// TestSharedState: the client's state is the model's to read and to change; the next turn, on
// another replica, has it, and no other user does.
func TestSharedState(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	first := scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{
			{ID: "a", Name: "update_state", Arguments: `{"steps":["Boil"]}`}, {ID: "b", Name: "update_state", Arguments: `{"title":"Green tea"}`},
			{ID: "c", Name: "update_state", Arguments: `{"steps":["x"]}`}, {ID: "d", Name: "update_state", Arguments: `{"title":"Tea","color":"red"}`},
		}},
		scripted.Text("done"))
	events := share(t, newService(t, first, chat.Options{Store: db}, cook), ctx, `{"title":"Tea </material>"}`)
	got := states(events)
	changes := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "change") })
	// The two calls that failed were shown as the state: the client gets it as it is.
	if n := len(got) - len(changes); n != 3 || got[0] != `{"title":"Tea </material>"}` {
		t.Errorf("%q", got)
	}
	// The calls are made at once: either change may be the first, or both are one.
	slices.Sort(changes)
	const steps, title = `{"op":"add","path":"/steps","value":["Boil"]}`, `{"op":"replace","path":"/title","value":"Green tea"}`
	if all := strings.Join(changes, " "); all != "change ["+steps+"] change ["+title+"]" && all != "change ["+steps+","+title+"]" {
		t.Errorf("%q", changes)
	}
	snapshot := find[*event.StateData](t, events)
	if want := (event.Prediction{StateKey: "steps", Tool: "update_state", Argument: "steps"}); len(snapshot.Predict) != 2 || snapshot.Predict[0] != want {
		t.Errorf("%+v", snapshot.Predict)
	}
	for _, e := range events {
		if d, ok := e.Data.(*event.ToolCallData); ok && (d.ID == "c" || d.ID == "d") && d.Status == event.ToolCompleted {
			t.Errorf("a wrong change was made: %s", d.Arguments)
		}
	}
	if text := system(&first.Requests()[0]); !strings.Contains(text, `<material source="state of the application"`) || strings.Count(text, "</material>") != 1 {
		t.Error(text)
	}
	if got := storedState(t, db, ctx, "s1"); got != `{"steps":["Boil"],"title":"Green tea"}` {
		t.Errorf("stored %s", got)
	}

	next := scripted.New(scripted.Text("one"), scripted.Text("two"), scripted.Text("three"))
	s := newService(t, next, chat.Options{Store: db}, cook)
	if got := states(share(t, s, ctx, `{}`)); !slices.Equal(got, []string{`{"steps":["Boil"],"title":"Green tea"}`}) {
		t.Errorf("the next turn has %q", got)
	}
	if text := system(&next.Requests()[0]); !strings.Contains(text, "Green tea") || strings.Count(text, "Green tea") != 1 {
		t.Error(text)
	}
	share(t, s, ctx, `{"title":"Coffee"}`)
	if got := storedState(t, db, ctx, "s1"); got != `{"title":"Coffee"}` {
		t.Errorf("the client's state is not kept: %s", got)
	}
	if got := states(turn(t, s, as(t.Context(), "bob", "s1"), "x")); !slices.Equal(got, []string{`{}`}) {
		t.Errorf("another user has %q", got)
	}
}

// TestStateChangedAtOnce: the calls of a step change the state at the same time. The newest state
// is stored, and a client that applies all changes has the same state.
func TestStateChangedAtOnce(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	var calls []llm.ToolCall
	for i := range 32 {
		calls = append(calls, llm.ToolCall{ID: fmt.Sprint(i), Name: "update_state", Arguments: fmt.Sprintf(`{"part%d":%d,"last":%d}`, i, i, i)})
	}
	model := scripted.New(scripted.Turn{Calls: calls}, scripted.Text("done"))
	events := share(t, newService(t, model, chat.Options{Store: db}, "name: busy\ndescription: You change much.\nstate: {properties: {last: {type: integer}}}\n"), ctx, "")
	var told map[string]json.RawMessage
	for _, e := range events {
		d, ok := e.Data.(*event.StateData)
		switch {
		case ok && d.Delta == nil:
			told = nil
			if err := json.Unmarshal(d.State, &told); err != nil {
				t.Fatal(err)
			}
		case ok:
			var patch []struct {
				Path  string
				Value json.RawMessage
			}
			if err := json.Unmarshal(d.Delta, &patch); err != nil {
				t.Fatal(err)
			}
			for _, p := range patch {
				told[p.Path[1:]] = p.Value
			}
			if after, err := json.Marshal(told); err != nil || string(after) != string(d.State) {
				t.Errorf("after %s, the state is %s, not %s", d.Delta, d.State, after)
			}
		}
	}
	after, err := json.Marshal(told)
	if stored := storedState(t, db, ctx, "s1"); err != nil || len(told) != 33 || stored != string(after) {
		t.Errorf("told %s, stored %s", after, stored)
	}
}

func TestWrongState(t *testing.T) {
	db := embedded(t)
	s := newService(t, scripted.New(), chat.Options{Store: db}, cook)
	for state, want := range map[string]string{
		`{"title":1}`:        "/title",
		`{"color":"red"}`:    "color",
		`[1]`:                "not a JSON object",
		`{"steps":["ok",3]}`: "/steps/1",
		`{"page":"` + strings.Repeat("x", 70_000) + `"}`: "at most 65536",
	} {
		_, err := s.Start(as(t.Context(), "alice", "s1"), chat.Request{Input: "x", State: json.RawMessage(state)})
		var wrong *chat.InputError
		if !errors.As(err, &wrong) || wrong.Field != "state" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", state, err)
		}
	}
	if _, err := db.Session(as(t.Context(), "alice", "s1"), "s1"); err == nil {
		t.Error("a session was made")
	}
}

// TestPredictedState: what a tool was given becomes the state when it has succeeded. A client
// that showed it in vain gets the state as it is.
func TestPredictedState(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	model := scripted.New(scripted.Call("echo", `{"text":"boom"}`), scripted.Call("echo", `{"text":"Dear all"}`), scripted.Text("done"))
	got := states(share(t, newService(t, model, chat.Options{Store: db}, cook), ctx, `{"title":"Mail"}`))
	if want := []string{`{"title":"Mail"}`, `{"title":"Mail"}`, `change [{"op":"add","path":"/page","value":"Dear all"}]`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := storedState(t, db, ctx, "s1"); got != `{"page":"Dear all","title":"Mail"}` {
		t.Errorf("stored %s", got)
	}
}

// TestStateAfterACrash: a run that goes on elsewhere has the state that was stored last.
func TestStateAfterACrash(t *testing.T) {
	db := embedded(t)
	ctx := as(t.Context(), "alice", "s1")
	hang := make(chan struct{})
	first := newService(t, scripted.New(scripted.Call("update_state", `{"title":"Tea"}`), scripted.Turn{Text: []string{"never"}, Before: scripted.Until(0, hang)}), quiet(db), cook)
	started, err := first.Start(ctx, chat.Request{Input: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range started.Events(context.Background()) {
		if d, ok := e.Data.(*event.ToolCallData); err != nil || ok && d.Status == event.ToolCompleted {
			break
		}
	}
	kill(t, db, first)
	model := scripted.New(scripted.Text("done"))
	second := newService(t, model, quiet(db), cook)
	resumed(t, db, second)
	late, _, err := second.Open(ctx, started.RunID)
	if err != nil {
		t.Fatal(err)
	}
	_, events := texts(t, late)
	if got := states(events); !slices.Equal(got, []string{`{}`, `change [{"op":"add","path":"/title","value":"Tea"}]`, `{"title":"Tea"}`}) {
		t.Errorf("a reader has %q", got)
	}
	if text := system(&model.Requests()[0]); !strings.Contains(text, `{"title":"Tea"}`) {
		t.Error(text)
	}
	if got := storedState(t, db, ctx, "s1"); got != `{"title":"Tea"}` {
		t.Errorf("stored %s", got)
	}
}

// TestStateOfOtherAgents: an agent that declares no state reads what the client sends.
func TestStateOfOtherAgents(t *testing.T) {
	model := scripted.New(scripted.Text("one"), scripted.Text("two"))
	s := newService(t, model, chat.Options{Store: embedded(t)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	if got := states(share(t, s, ctx, `{"cart":[1]}`)); len(got) > 0 {
		t.Errorf("%q", got)
	}
	share(t, s, ctx, ` {} `)
	for i, want := range []bool{true, false} {
		if text := system(&model.Requests()[i]); strings.Contains(text, "state of the user's application") != want || strings.Contains(text, `{"cart":[1]}`) != want {
			t.Errorf("%d: %s", i, text)
		}
	}
}
