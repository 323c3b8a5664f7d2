package routing_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/p8-org/p8/routing"
)

func TestAHandedOverSession(t *testing.T) {
	worker, other, boss := routing.Candidate{Name: "worker", MaxTurns: 2}, routing.Candidate{Name: "other"}, routing.Candidate{Name: "boss"}
	moved := routing.State{}.HandOver("boss", worker)
	want := routing.State{Active: "worker", State: "executing", MaxTurns: 2, Fallback: "boss", Delegation: []string{"boss"}}
	if diff := cmp.Diff(want, moved); diff != "" {
		t.Error(diff)
	}
	for _, tc := range []struct {
		name            string
		s               routing.State
		requested, want string
	}{
		{"nobody handed over", routing.State{}, "boss", "boss"},
		{"the one that handed over", moved, "boss", "worker"},
		{"another agent is asked for", moved, "other", "other"},
		{"under another spelling", moved, "Boss", "worker"},
		{"the active one", moved, "worker", "worker"},
		{"the turns are used up", moved.AfterTurn("worker").AfterTurn("worker"), "boss", "boss"},
		{"one turn is left", moved.AfterTurn("worker"), "boss", "worker"},
		{"on and on", moved.HandOver("worker", other), "boss", "other"},
		{"back again", moved.HandOver("worker", boss), "boss", "boss"},
		{"the worker is done", moved.Done(), "boss", "boss"},
		{"the worker gives up", moved.Escalate("other", ""), "boss", "boss"},
	} {
		if got := tc.s.Answers(tc.requested); got != tc.want {
			t.Errorf("%s: %s answers, want %s", tc.name, got, tc.want)
		}
	}
	if got := moved.HandOver("worker", other); got.Fallback != "boss" || got.MaxTurns != 20 || got.Turns != 0 || !slices.Equal(got.Delegation, []string{"boss", "worker"}) {
		t.Errorf("%+v", got)
	}
	if got := moved.HandOver("worker", boss); !got.None() {
		t.Errorf("%+v", got)
	}
	if got := moved.HandOver("other", boss); got.Fallback != "other" || got.Active != "boss" {
		t.Errorf("another agent that was asked for handed over: %+v", got)
	}
	used := moved.AfterTurn("worker").AfterTurn("worker")
	if got := used.AfterTurn("boss"); !got.None() {
		t.Errorf("%+v", got)
	}
	if got := moved.AfterTurn("other"); !got.Equal(moved) {
		t.Errorf("%+v", got)
	}
}

func TestARoutedSession(t *testing.T) {
	bills, desk := routing.Candidate{Name: "bills", MaxTurns: 2}, routing.Candidate{Name: "desk"}
	start := routing.Start("general")
	bill := start.Activate(bills, "it has the keyword")
	trusted := bill
	trusted.Escalation = "desk"
	for _, tc := range []struct {
		name                 string
		s                    routing.State
		active, state, asked string
		turns                int
	}{
		{"start", start, "general", "idle", "general", 0},
		{"activated", bill, "bills", "executing", "general", 0},
		{"a turn", bill.AfterTurn("bills"), "bills", "executing", "general", 1},
		{"somebody else's turn", bill.AfterTurn("desk"), "bills", "executing", "general", 0},
		{"its last turn", bill.AfterTurn("bills").AfterTurn("bills"), "bills", "re-evaluate", "general", 2},
		{"done", bill.Done().AfterTurn("bills"), "bills", "complete", "general", 0},
		{"it gives up", bill.Escalate("", "").AfterTurn("bills"), "general", "escalated", "general", 0},
		{"there is somebody for it", trusted.Escalate("", ""), "desk", "escalated", "general", 0},
		{"it names somebody", bill.Escalate("desk", ""), "desk", "escalated", "general", 0},
		{"it names itself", bill.Escalate("Bills", ""), "general", "escalated", "general", 0},
		{"the fallback gives up", start.Escalate("", ""), "", "escalated", "general", 0},
		{"handed over", bill.HandOver("bills", desk), "desk", "executing", "general", 0},
		{"handed to the fallback", bill.HandOver("bills", routing.Candidate{Name: "general"}), "general", "executing", "general", 0},
	} {
		if got := tc.s; got.Active != tc.active || got.State != tc.state || got.Turns != tc.turns || !got.Auto || got.Fallback != "general" {
			t.Errorf("%s: %+v", tc.name, got)
		}
		if got := tc.s.Answers("general"); got != tc.asked {
			t.Errorf("%s: who is asked for by name answers, not %s", tc.name, got)
		}
	}
}

func TestDelegationIsBounded(t *testing.T) {
	s := routing.Start("general")
	for i := range 30 {
		s = s.HandOver(fmt.Sprintf("a%d", i), routing.Candidate{Name: "x"})
	}
	if len(s.Delegation) != 10 || s.Delegation[9] != "a29" {
		t.Errorf("%q", s.Delegation)
	}
	if s = s.Activate(routing.Candidate{Name: "x"}, strings.Repeat("é", 1000)); len([]rune(s.Reason)) != 200 {
		t.Errorf("a reason of %d characters", len([]rune(s.Reason)))
	}
}

func TestMetadata(t *testing.T) {
	moved := routing.State{}.HandOver("boss", routing.Candidate{Name: "worker"})
	auto := routing.Start("general").Activate(routing.Candidate{Name: "bills"}, "why")
	for _, s := range []routing.State{moved, auto, auto.Done(), auto.Escalate("", ""), routing.Start("general"), routing.Start("general").Escalate("", "")} {
		if got := routing.Read(s.Patch()); !got.Equal(s) {
			t.Errorf("%+v, want %+v", got, s)
		}
	}
	want := `{"routing":{"active_agent":"worker","state":"executing","turn_count":0,"max_turns":20,"fallback":"boss","delegation":["boss"]}}`
	if got := string(moved.Patch()); got != want {
		t.Errorf("%s", got)
	}
	if got := string(routing.State{}.Patch()); got != `{"routing":null}` {
		t.Errorf("%s", got)
	}
	for _, metadata := range []string{``, `{}`, `null`, `[]`, `{"routing":null}`, `{"routing":"x"}`, `{"routing":{"active_agent":"a"}}`,
		`{"routing":{"active_agent":"a","state":"idle","fallback":"b"}}`, `{"routing":{"state":"executing","fallback":"b"}}`,
		`{"routing":{"active_agent":"a","state":"executing"}}`, `{"routing":{"active_agent":"a","state":"lost","fallback":"b","auto":true}}`,
		`{"routing":{"active_agent":"` + strings.Repeat("a", 300) + `","state":"executing","fallback":"b"}}`} {
		if got := routing.Read(json.RawMessage(metadata)); !got.None() {
			t.Errorf("%s: %+v", metadata, got)
		}
	}
	got := routing.Read(json.RawMessage(`{"routing":{"active_agent":"a","state":"executing","fallback":"b","turn_count":-3,"max_turns":-1}}`))
	if got.Turns != 0 || got.MaxTurns != 20 {
		t.Errorf("%+v", got)
	}
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct{ metadata, said, routed string }{
		{``, "", ""}, {`{}`, "", ""}, {`null`, "", ""},
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"routing":null}`, "", ""},
		{`{"routing":{"state":"idle"}}`, "", `{"state":"idle"}`},
		{`{"a":"routing","routing":{"state":"idle"}}`, `{"a":"routing"}`, `{"state":"idle"}`},
		{`["routing"]`, `["routing"]`, ""},
	} {
		if said, routed := routing.Split(json.RawMessage(tc.metadata)); said != tc.said || routed != tc.routed {
			t.Errorf("%s: %s and %s", tc.metadata, said, routed)
		}
	}
}

// TestAnyActionsLeaveAState: whatever happens in whatever order, the session has an
// agent, the state can be stored and read, and what it remembers is bounded.
func TestAnyActionsLeaveAState(t *testing.T) {
	agents := []routing.Candidate{rules("bills", "invoice"), rules("travel", "train"), {Name: "desk", MaxTurns: 1}}
	names := []string{"bills", "travel", "desk", "general", "Bills", "gone", ""}
	messages := []string{"My invoice", "A train", "Hello", "", "invoice train"}
	rapid.Check(t, func(t *rapid.T) {
		s := routing.State{}
		if rapid.Bool().Draw(t, "auto") {
			s = routing.Start("general")
		}
		for range rapid.IntRange(1, 40).Draw(t, "actions") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			switch rapid.IntRange(0, 5).Draw(t, "action") {
			case 0:
				if !s.Auto {
					continue
				}
				left := agents[rapid.IntRange(0, 2).Draw(t, "removed"):]
				c := routing.Chain(routing.Rules(), routing.Fixed(name))
				next, d, err := routing.Route(t.Context(), routing.Input{
					Message: rapid.SampledFrom(messages).Draw(t, "message"), State: s, Agents: left,
				}, c)
				if err != nil || d.Agent != next.Active || d.Agent == "" || next.State != routing.Executing && next.State != routing.Idle {
					t.Fatalf("%+v, %+v, %v", next, d, err)
				}
				if i := slices.IndexFunc(left, func(c routing.Candidate) bool { return routing.Same(c.Name, d.Agent) }); i < 0 && d.Agent != "general" {
					t.Fatalf("%s answers, which is not there", d.Agent)
				}
				s = next
			case 1:
				s = s.AfterTurn(name)
			case 2:
				s = s.Done()
			case 3:
				s = s.Escalate(name, "why")
			case 4:
				if name != "" {
					s = s.HandOver(rapid.SampledFrom(names[:5]).Draw(t, "from"), routing.Candidate{Name: name})
				}
			case 5:
				if read := routing.Read(s.Patch()); !read.Equal(s) {
					t.Fatalf("%+v is read as %+v", s, read)
				}
			}
			switch {
			case s.None():
				if !s.Equal(routing.State{}) {
					t.Fatalf("a state without a state: %+v", s)
				}
			case s.Fallback == "", s.Active == "" && s.State != routing.Escalated, len(s.Delegation) > 10, s.Turns < 0, s.MaxTurns < 1:
				t.Fatalf("%+v", s)
			}
			if s.Answers("general") == "" {
				t.Fatal("nobody answers")
			}
		}
	})
}
