package chat

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/tool"
)

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
