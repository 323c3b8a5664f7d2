package tool

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/p8-org/p8/agent"
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
// resources that are read like tools. It may be used by several goroutines and
// must not be copied.
type Box struct {
	// Local are this process's tools. Required.
	Local *Registry
	// Resources are this process's resources; nil is none.
	Resources Resources
	// Servers may be nil.
	Servers Servers
	Logger  *slog.Logger

	mu        sync.Mutex
	known     []string
	knownTill time.Time
}

// Resolved is what a document declares, as far as it is there.
type Resolved struct {
	// Tools are offered to the model, in the document's order, their names unique.
	Tools []Tool
	// Missing are declared and not there, the reason with each.
	Missing []Missing
	// Chained is the tool that gets the structured answer; nil when the document
	// names none or it is missing, which ChainedMissing then tells. It is not
	// offered to the model.
	Chained        Tool
	ChainedMissing Missing
}

// Resolve finds what a document declares. It never fails: what is not there is
// told, and the agent works without. Only the servers that the document names
// are asked, all at once.
func (b *Box) Resolve(ctx context.Context, a *agent.Agent) Resolved {
	r := &resolver{box: b, agent: a, taken: reserved(a)}
	if a.Sampling {
		// Servers show more to a client whose model they may ask.
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

// The bounds of asking servers what they have.
const (
	askWithin  = 15 * time.Second
	namesTime  = 3 * time.Second
	namesFor   = 30 * time.Second
	maxAskings = 32
)

// answer is what a server said about its tools.
type answer struct {
	server Server
	tools  []Tool
	err    error
}

// ask asks the named servers for their tools, all at once.
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

// Names are the tools that a document may name, for agent.Document.CheckTools:
// those of this process, "server/name" for those of servers, and "server/" for
// every server, whether it answers or not. Answers are kept for half a minute.
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

// OriginalName is what a tool is called by its server and in documents; a
// provider may refuse that name, so the model sees another.
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
