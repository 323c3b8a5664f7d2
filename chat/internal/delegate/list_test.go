package delegate

import (
	"context"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool"
)

// TestTheModelKnowsWhomItMayAsk: the descriptions of the tools list the document's agents,
// and the tools keep their events and their timeout.
func TestTheModelKnowsWhomItMayAsk(t *testing.T) {
	ask, err := New(Options{}).AskAgent()
	if err != nil {
		t.Fatal(err)
	}
	d, err := agent.New(agent.Fields{Name: "boss", Description: "D.", Agents: []agent.AgentRef{{Name: "worker"}, {Name: "other", Description: "for the rest"}}})
	if err != nil {
		t.Fatal(err)
	}
	told := withTool(t, d, ask)
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
	if got := withTool(t, d, ask); got != ask {
		t.Errorf("%q", got.Spec().Description)
	}
}

// withTool is the tool as the model of a document with it sees it.
func withTool(t *testing.T, d *agent.Document, own tool.Tool) tool.Tool {
	t.Helper()
	f := cast.New(cast.Options{Models: anyModel{}, Tools: oneTool{own}})
	c, err := f.Cast(t.Context(), &agent.Agent{Document: d}, cast.Wanted{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Tools[0]
}

type anyModel struct{}

func (anyModel) Resolve(string) (llm.Model, error) { return scripted.New(), nil }

type oneTool struct{ own tool.Tool }

func (o oneTool) Resolve(context.Context, *agent.Agent) tool.Resolved {
	return tool.Resolved{Tools: []tool.Tool{o.own}}
}
