package cast

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/tool"
)

// maxListed bounds the agents that a tool's description lists if the document lists none.
const maxListed = 50

// maxAbout bounds the description of each listed agent, in characters.
const maxAbout = 200

// listAgents names agents in the descriptions of ask_agent and transfer_to_agent: those
// that the document lists, or else those that the caller may use.
func (f *Finder) listAgents(ctx context.Context, a *agent.Agent, tools []tool.Tool) []tool.Tool {
	asks := func(t tool.Tool) bool {
		name := t.Spec().Name
		return name == AskAgent || name == Transfer
	}
	if !slices.ContainsFunc(tools, asks) {
		return tools
	}
	refs, more := a.Document.Agents, 0
	if len(refs) == 0 {
		refs, more = f.agents(ctx, a)
	}
	if len(refs) == 0 {
		return tools
	}
	var b strings.Builder
	b.WriteString("The agents are:")
	for _, ref := range refs {
		b.WriteString("\n- " + ref.Name)
		if ref.Description != "" {
			b.WriteString(": " + ref.Description)
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nand %d more.", more)
	}
	out := slices.Clone(tools)
	for i, t := range out {
		if asks(t) {
			out[i] = tool.WithNote(t, b.String())
		}
	}
	return out
}

// agents returns the first agents, by name, that the caller may use, without the agent
// itself, and the number of the others. It leaves out scripts and agents that serve p8
// itself (routing_enabled: false).
func (f *Finder) agents(ctx context.Context, self *agent.Agent) (refs []agent.AgentRef, more int) {
	if f.o.Agents == nil {
		return nil, 0
	}
	all, err := f.o.Agents(ctx)
	if err != nil {
		f.o.Logger.ErrorContext(ctx, "the agents could not be listed", "error", err)
		return nil, 0
	}
	for _, a := range all {
		switch {
		case !a.Enabled || a.Name == self.Name || f.o.Script != nil && f.o.Script(a.Name) != nil:
		case len(refs) == maxListed:
			more++
		default:
			refs = append(refs, agent.AgentRef{Name: a.Name, Description: tool.Cut(strings.Join(strings.Fields(a.Description), " "), maxAbout)})
		}
	}
	return refs, more
}
