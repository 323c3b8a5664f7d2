package replay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// Servers wraps the MCP servers, which may be nil. While a tape is played, they are the
// recorded ones.
func (t *Tape) Servers(next tool.Servers) tool.Servers {
	if t.playing {
		return playedServers{t}
	}
	return recordedServers{t, next}
}

// recordedServers are servers that are recorded.
type recordedServers struct {
	tape *Tape
	next tool.Servers
}

// Names returns the names of all servers.
func (s recordedServers) Names() []string { return s.next.Names() }

// Server returns nil for an unknown name.
func (s recordedServers) Server(name string) tool.Server {
	if next := s.next.Server(name); next != nil {
		return recordedServer{s.tape, name, next}
	}
	return nil
}

// recordedServer is a server that is recorded.
type recordedServer struct {
	tape *Tape
	name string
	tool.Server
}

// Tools returns the tools of the server; their calls are recorded.
func (s recordedServer) Tools(ctx context.Context) ([]tool.Tool, error) {
	found, err := s.Server.Tools(ctx)
	kept := Server{Name: s.name}
	if err != nil {
		kept.Down = "the MCP server " + s.name + " is down"
		var known *tool.Error
		if errors.As(err, &known) {
			kept.Down = s.tape.clean(known.Message)
		}
	}
	out := make([]tool.Tool, len(found))
	for i, f := range found {
		kept.Tools = append(kept.Tools, s.tape.tool(f))
		out[i] = s.tape.Tool(s.name, f)
	}
	s.tape.met(kept)
	return out, err
}

// Read reads a resource and keeps its contents.
func (s recordedServer) Read(ctx context.Context, uri string) ([]tool.Contents, error) {
	contents, err := s.Server.Read(ctx, uri)
	s.tape.keep(Call{Server: s.name, URI: s.tape.clean(uri)}, contents, err)
	return contents, err
}

// met keeps a server; the last list of its tools counts.
func (t *Tape) met(s Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.cassette.Servers {
		if t.cassette.Servers[i].Name == s.Name {
			t.cassette.Servers[i] = s
			return
		}
	}
	t.cassette.Servers = append(t.cassette.Servers, s)
}

// needed returns the servers with the tools that a model was offered or that were called. A
// tool may have been offered under a longer name.
func (t *Tape) needed() []Server {
	var out []Server
	for _, s := range t.cassette.Servers {
		kept := Server{Name: s.Name, Down: s.Down}
		for _, tl := range s.Tools {
			used := false
			for name := range t.offered {
				used = used || strings.HasSuffix(name, tl.Name) || strings.HasPrefix(name, tl.Name)
			}
			for _, c := range t.cassette.Calls {
				used = used || c.Server == s.Name && c.Tool == tl.original()
			}
			if used {
				kept.Tools = append(kept.Tools, tl)
			}
		}
		out = append(out, kept)
	}
	return out
}

// tool returns what is kept of a tool.
func (t *Tape) tool(of tool.Tool) Tool {
	spec, a := of.Spec(), tool.AnnotationsOf(of)
	out := Tool{Name: spec.Name, Description: t.clean(spec.Description), Parameters: t.cleanJSON(spec.Parameters)}
	if len(a.Output) > 0 {
		out.Output = t.cleanJSON(a.Output)
	}
	if original := tool.OriginalName(of); original != spec.Name {
		out.Original = original
	}
	for _, h := range hints(&a) {
		if *h.set {
			out.Hints = append(out.Hints, h.name)
		}
	}
	return out
}

func (t Tool) original() string {
	if t.Original != "" {
		return t.Original
	}
	return t.Name
}

// hint is a flag of annotations.
type hint struct {
	name string
	set  *bool
}

func hints(a *tool.Annotations) []hint {
	return []hint{{"read_only", &a.ReadOnly}, {"destructive", &a.Destructive}, {"idempotent", &a.Idempotent}, {"open_world", &a.OpenWorld}}
}

// playedServers are the servers of a cassette.
type playedServers struct{ tape *Tape }

// Names returns the names of the recorded servers.
func (s playedServers) Names() []string {
	var names []string
	for _, r := range s.tape.cassette.Servers {
		names = append(names, r.Name)
	}
	return names
}

// Server returns nil for a server that was not recorded.
func (s playedServers) Server(name string) tool.Server {
	for _, r := range s.tape.cassette.Servers {
		if r.Name == name {
			return playedServer{s.tape, r}
		}
	}
	return nil
}

// playedServer is a server of a cassette.
type playedServer struct {
	tape *Tape
	kept Server
}

// Tools returns the recorded tools.
func (s playedServer) Tools(context.Context) ([]tool.Tool, error) {
	if s.kept.Down != "" {
		return nil, &tool.Error{Message: s.kept.Down}
	}
	var out []tool.Tool
	for _, k := range s.kept.Tools {
		base, err := tool.NewBase(llm.ToolSpec{Name: k.Name, Description: k.Description, Parameters: k.Parameters})
		if err != nil {
			return nil, &tool.Error{Message: "the recording of the tool " + k.Name + " cannot be used: " + err.Error()}
		}
		a := tool.Annotations{Output: k.Output}
		for _, h := range hints(&a) {
			for _, name := range k.Hints {
				*h.set = *h.set || name == h.name
			}
		}
		out = append(out, &playedTool{base, s.tape, s.kept.Name, k.original(), a})
	}
	return out, nil
}

// List returns nothing: what a server could offer is not recorded.
func (playedServer) List(context.Context) ([]tool.ResourceInfo, error) { return nil, nil }

// Read returns the recorded contents.
func (s playedServer) Read(_ context.Context, uri string) ([]tool.Contents, error) {
	raw, err := s.tape.played(Call{Server: s.kept.Name, URI: s.tape.clean(uri)})
	if err != nil {
		return nil, err
	}
	var contents []tool.Contents
	err = json.Unmarshal(raw, &contents)
	return contents, err
}
