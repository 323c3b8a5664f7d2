package tool

import (
	"context"
	"slices"

	"p8/agent"
)

// Server is one MCP server, whatever its transport. An *Error says that it is
// down, in words for an author, a model and a client.
type Server interface {
	// Tools are all that the server has, under its own names.
	Tools(ctx context.Context) ([]Tool, error)
	Resources
}

// Servers are the MCP servers that this process knows by name.
type Servers interface {
	// Names are the servers, sorted.
	Names() []string
	// Server is nil when there is none of that name.
	Server(name string) Server
}

// Box is where the tools of documents come from: this process, MCP servers, and
// resources that are read like tools.
type Box struct {
	// Local are this process's tools. Required.
	Local *Registry
	// Resources are this process's resources; nil is none.
	Resources Resources
	// Servers may be nil.
	Servers Servers
}

// Resolved is what a document declares, as far as it is there.
type Resolved struct {
	// Tools are offered to the model, in the document's order, their names unique.
	Tools []Tool
	// Missing are declared and not there, the reason with each.
	Missing []Missing
	// Chained is the tool that gets the structured answer; nil when the document
	// names none or it is missing. It is not offered to the model.
	Chained Tool
}

// Resolve finds what a document declares. It never fails: what is not there is
// told, and the agent works without.
func (b *Box) Resolve(_ context.Context, a *agent.Agent) Resolved {
	var out Resolved
	out.Tools, out.Missing = b.Local.Resolve(a.Tools)
	if a.Document.Dialect == agent.Nested {
		for i, t := range out.Tools {
			n := slices.IndexFunc(a.Tools, func(ref agent.ToolRef) bool { return ref.Name == t.Spec().Name })
			if n >= 0 {
				out.Tools[i] = WithNote(t, a.Tools[n].Description)
			}
		}
	}
	return out
}
