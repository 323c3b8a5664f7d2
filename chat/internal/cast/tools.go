package cast

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// The tools whose descriptions depend on the turn.
const (
	// AskAgent is the tool with which agents ask agents.
	AskAgent = "ask_agent"
	// Transfer is the tool with which an agent hands the session over.
	Transfer = "transfer_to_agent"
	// action is the tool with which agents emit events.
	action = "action"
)

// findTools resolves the declared tools. Each missing tool is a warning. Only the tools of
// servers that are down are reported to the model: its prompt may mention them.
func (f *Finder) findTools(ctx context.Context, c *Cast, routed bool) {
	var found tool.Resolved
	if f.o.Tools != nil {
		found = f.o.Tools.Resolve(ctx, c.Agent)
	} else {
		for _, ref := range c.Agent.Tools {
			found.Missing = append(found.Missing, tool.Missing{Ref: ref})
		}
	}
	c.Tools, c.Chained = f.listAgents(ctx, c.Agent, found.Tools), found.Chained
	if routed {
		c.Tools = explainRouting(c.Tools)
	}
	if found.ChainedMissing.Ref.Name != "" {
		c.ChainedMissing = found.ChainedMissing.Message()
	}
	for _, m := range found.Missing {
		if m.Reason != "" && len(m.Near) == 0 { // not a mistake of the document
			c.Absent = append(c.Absent, m.Message())
		}
		c.Warnings = append(c.Warnings, event.WarningData{Code: "tool_unavailable", Message: m.Message()})
	}
}

// routingNote says how an agent of a routed session gives the session back.
const routingNote = `In this conversation p8 chooses who answers. complete: what the user came for is done, so that the next message is looked at anew. escalate: you cannot do it; payload {reason, agent} with agent, when you know one, the agent that goes on. Either changes who answers the next message, not this one.`

// explainRouting adds the note to the description of the action tool.
func explainRouting(tools []tool.Tool) []tool.Tool {
	out := slices.Clone(tools)
	for i, t := range out {
		if t.Spec().Name == action {
			out[i] = tool.WithNote(t, routingNote)
		}
	}
	return out
}

// clientTool is a tool that the client brought.
type clientTool struct{ tool.Base }

// NewClientTool makes a tool that the client runs itself. If unchecked is true, the client
// also checks the arguments.
func NewClientTool(spec llm.ToolSpec, unchecked bool) (tool.Tool, error) {
	base, err := tool.NewBase(spec)
	if err != nil {
		return nil, err
	}
	if unchecked {
		return uncheckedTool{clientTool{base}}, nil
	}
	return clientTool{base}, nil
}

// uncheckedTool is a tool of a client that checks the arguments itself.
type uncheckedTool struct{ clientTool }

// ChecksItself marks the tool as one whose client checks the arguments.
func (uncheckedTool) ChecksItself() {}

// Validate accepts all arguments.
func (uncheckedTool) Validate(context.Context, json.RawMessage) error { return nil }

// RunsAtClient marks the tool as one that the client runs.
func (clientTool) RunsAtClient() {}

// Call always fails: a run ends before it would call a client's tool.
func (clientTool) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{}, &tool.Error{Message: "the client runs this tool itself"}
}

// addClientTools adds the client's tools to the document's own. If both have a tool of one
// name, the document's is used.
func (c *Cast) addClientTools(tools []tool.Tool) {
	if len(tools) == 0 {
		return
	}
	taken := map[string]bool{}
	for _, t := range c.Tools {
		taken[t.Spec().Name] = true
	}
	c.Tools = slices.Clip(c.Tools)
	for _, t := range tools {
		name := t.Spec().Name
		if taken[name] {
			c.Warnings = append(c.Warnings, event.WarningData{
				Code: "tool_unavailable", Message: "the agent has a tool named " + name + " of its own; the client's is left out",
			})
			continue
		}
		taken[name] = true
		c.Tools = append(c.Tools, t)
	}
}
