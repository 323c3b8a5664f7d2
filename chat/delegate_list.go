package chat

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/tool"
)

// tellAgents tells the model of a document that lists agents which ones it may ask
// or hand over to: behind the descriptions of the tools that do.
func tellAgents(a *agent.Agent, tools []tool.Tool) []tool.Tool {
	if len(a.Document.Agents) == 0 {
		return tools
	}
	var b strings.Builder
	b.WriteString("The agents are:")
	for _, ref := range a.Document.Agents {
		b.WriteString("\n- " + ref.Name)
		if ref.Description != "" {
			b.WriteString(": " + ref.Description)
		}
	}
	out := slices.Clone(tools)
	for i, t := range out {
		if name := t.Spec().Name; name == AskAgentName || name == TransferName {
			out[i] = tool.WithNote(t, b.String())
		}
	}
	return out
}
