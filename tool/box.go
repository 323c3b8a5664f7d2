package tool

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/p8-org/p8/agent"
)

// Server is one MCP server, whatever its transport. An *Error means that it is down,
// worded for an author, a model and a client.
type Server interface {
	// Tools returns all tools of the server, under the server's names.
	Tools(ctx context.Context) ([]Tool, error)
	Resources
}

// Servers are the MCP servers that this process knows by name.
type Servers interface {
	// Names returns the names of the servers, sorted.
	Names() []string
	// Server returns nil for an unknown name.
	Server(name string) Server
}

// Box finds the tools of documents: in this process, on MCP servers, and as resources
// that are read like tools. It is safe for concurrent use and must not be copied.
type Box struct {
	// Local are this process's tools. Required.
	Local *Registry
	// Resources are this process's resources; nil if it has no resources.
	Resources Resources
	// Servers may be nil.
	Servers Servers
	Logger  *slog.Logger

	mu        sync.Mutex
	known     []string
	knownTill time.Time
}

// Resolved are the tools that a document declares.
type Resolved struct {
	// Tools are offered to the model, in the document's order; their names are unique.
	Tools []Tool
	// Missing are declared and not available, each with the reason.
	Missing []Missing
	// Chained is the tool that gets the structured answer. It is nil if the document
	// names none, or if it is missing: ChainedMissing then says why. The model does
	// not see it.
	Chained        Tool
	ChainedMissing Missing
}

// Resolve finds the tools of a document. It never fails: missing tools are reported,
// and the agent works without them. It asks only the servers that the document names,
// all at the same time.
func (b *Box) Resolve(ctx context.Context, a *agent.Agent) Resolved {
	rem := b.Servers != nil && b.Servers.Server(agent.ServerREM) != nil
	r := &resolver{box: b, agent: a, rem: rem, taken: reserved(a, rem)}
	if a.Sampling {
		// Servers offer more tools to a client with sampling.
		ctx = WithSampler(ctx, notYet{})
	}
	r.answers = b.ask(ctx, r.servers())
	for _, ref := range a.Tools {
		r.tool(ref)
	}
	for _, res := range a.Resources {
		r.resource(res)
	}
	r.out.Chained = r.chained()
	return r.out
}

// The bounds of listing the tools of servers.
const (
	askWithin  = 15 * time.Second
	namesTime  = 3 * time.Second
	namesFor   = 30 * time.Second
	maxAskings = 32
)

// answer is a server's list of tools, or its error.
type answer struct {
	server Server
	tools  []Tool
	err    error
}

// ask lists the tools of the named servers, all at the same time.
func (b *Box) ask(ctx context.Context, names []string) map[string]answer {
	answers := make(map[string]answer, len(names))
	if b.Servers == nil {
		return answers
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var wait sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan struct{}, maxAskings)
	for _, name := range names {
		server := b.Servers.Server(name)
		if server == nil {
			continue
		}
		wait.Go(func() {
			slots <- struct{}{}
			tools, err := server.Tools(ctx)
			<-slots
			mu.Lock()
			defer mu.Unlock()
			answers[name] = answer{server, tools, err}
		})
	}
	wait.Wait()
	return answers
}

// Names returns the names that a document may declare, for agent.Document.CheckTools:
// this process's tools, "server/name" for those of servers, and "server/" for every
// server, available or not. The list is cached for half a minute.
func (b *Box) Names(ctx context.Context) []string {
	b.mu.Lock()
	known, fresh := b.known, time.Now().Before(b.knownTill)
	b.mu.Unlock()
	names := b.Local.Names()
	if b.Servers == nil {
		return names
	}
	if !fresh {
		known = b.serverNames(ctx)
		if ctx.Err() != nil {
			return append(names, known...) // servers were not waited for
		}
		b.mu.Lock()
		b.known, b.knownTill = known, time.Now().Add(namesFor)
		b.mu.Unlock()
	}
	return append(names, known...)
}

func (b *Box) serverNames(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	servers := b.Servers.Names()
	answers := b.ask(ctx, servers)
	var out []string
	for _, server := range servers {
		out = append(out, server+"/")
		for _, t := range answers[server].tools {
			out = append(out, server+"/"+OriginalName(t))
		}
	}
	return out
}

// OriginalName returns the tool's name on its server and in documents. The model sees
// another one if providers refuse it.
func OriginalName(t Tool) string {
	if o, ok := t.(interface{ Original() string }); ok {
		return o.Original()
	}
	return t.Spec().Name
}

// logger is never nil.
func (b *Box) logger() *slog.Logger {
	if b.Logger != nil {
		return b.Logger
	}
	return slog.Default()
}
