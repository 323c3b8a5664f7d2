package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"p8/agent"
	"p8/tool"
)

func target(t *testing.T, name string, turns int) *agent.Agent {
	t.Helper()
	d, err := agent.New(agent.Fields{Name: name, Description: "D.", RoutingMaxTurns: turns})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRouting(t *testing.T) {
	worker, other, boss := target(t, "worker", 2), target(t, "other", 0), target(t, "boss", 0)
	moved := routing{}.handOver("boss", worker)
	if want := (routing{Active: "worker", State: "executing", MaxTurns: 2, Fallback: "boss"}); moved != want {
		t.Errorf("%+v", moved)
	}
	for _, tc := range []struct {
		name            string
		r               routing
		requested, want string
	}{
		{"nobody handed over", routing{}, "boss", "boss"},
		{"the one that handed over", moved, "boss", "worker"},
		{"another agent is asked for", moved, "other", "other"},
		{"under another spelling", moved, "Boss", "worker"},
		{"the active one", moved, "worker", "worker"},
		{"the turns are used up", moved.afterTurn("worker").afterTurn("worker"), "boss", "boss"},
		{"one turn is left", moved.afterTurn("worker"), "boss", "worker"},
		{"on and on", moved.handOver("worker", other), "boss", "other"},
		{"back again", moved.handOver("worker", boss), "boss", "boss"},
	} {
		if got := tc.r.answering(tc.requested); got != tc.want {
			t.Errorf("%s: %s answers, want %s", tc.name, got, tc.want)
		}
	}
	if got := moved.handOver("worker", other); got.Fallback != "boss" || got.MaxTurns != 20 || got.Turns != 0 {
		t.Errorf("%+v", got)
	}
	if got := moved.handOver("worker", boss); got != (routing{}) {
		t.Errorf("%+v", got)
	}
	used := moved.afterTurn("worker").afterTurn("worker")
	if got := used.afterTurn("boss"); got != (routing{}) {
		t.Errorf("%+v", got)
	}
	if got := moved.afterTurn("other"); got != moved {
		t.Errorf("%+v", got)
	}
}

func TestRoutingInMetadata(t *testing.T) {
	moved := routing{}.handOver("boss", target(t, "worker", 0))
	if got := readRouting(moved.patch()); got != moved {
		t.Errorf("%+v, want %+v", got, moved)
	}
	if got := string((routing{}).patch()); got != `{"routing":null}` {
		t.Errorf("%s", got)
	}
	for _, metadata := range []string{``, `{}`, `null`, `[]`, `{"routing":null}`, `{"routing":"x"}`, `{"routing":{"active_agent":"a"}}`,
		`{"routing":{"active_agent":"a","state":"idle","fallback":"b"}}`, `{"routing":{"state":"executing","fallback":"b"}}`} {
		if got := readRouting(json.RawMessage(metadata)); got != (routing{}) {
			t.Errorf("%s: %+v", metadata, got)
		}
	}
}

// TestTheModelKnowsWhomItMayAsk: a list of the document stands behind the tools'
// descriptions, and they stay what they are.
func TestTheModelKnowsWhomItMayAsk(t *testing.T) {
	s := new(Service)
	ask, err := s.AskAgent()
	if err != nil {
		t.Fatal(err)
	}
	d, err := agent.New(agent.Fields{Name: "boss", Description: "D.", Agents: []agent.AgentRef{{Name: "worker"}, {Name: "other", Description: "for the rest"}}})
	if err != nil {
		t.Fatal(err)
	}
	told := tellAgents(&agent.Agent{Document: d}, []tool.Tool{ask})[0]
	if got := told.Spec().Description; !strings.HasSuffix(got, "\n\nThe agents are:\n- worker\n- other: for the rest") {
		t.Errorf("%q", got)
	}
	if _, ok := told.(tool.Streamer); !ok {
		t.Error("it shows no events any more")
	}
	if timed, ok := told.(tool.Timed); !ok || timed.Timeout(tool.Call{Arguments: []byte(`{"input_text":"x"}`)}) != askFor+askGrace {
		t.Error("it has no longer its own time")
	}
	d.Agents = nil
	if got := tellAgents(&agent.Agent{Document: d}, []tool.Tool{ask})[0]; got != ask {
		t.Errorf("%q", got.Spec().Description)
	}
}
