package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/llm"
)

// resolver finds the tools of one document.
type resolver struct {
	box     *Box
	agent   *agent.Agent
	rem     bool // an MCP server is named rem
	answers map[string]answer
	// taken are the names of the tools so far.
	taken map[string]bool
	seen  map[[3]string]bool
	out   Resolved
}

// reserved returns the names that only this process's tools may have; rem says that an MCP
// server is named rem.
func reserved(a *agent.Agent, rem bool) map[string]bool {
	names := map[string]bool{llm.OutputTool: true}
	for _, ref := range a.Tools {
		if ref.LocalBeside(rem) && uriOf(ref) == "" {
			names[ref.Name] = true
		}
	}
	return names
}

// servers returns the servers that the document names, each once.
func (r *resolver) servers() []string {
	var names []string
	add := func(ref agent.ToolRef) {
		if !ref.LocalBeside(r.rem) && !slices.Contains(names, ref.Server) {
			names = append(names, ref.Server)
		}
	}
	for _, ref := range r.agent.Tools {
		add(ref)
	}
	for _, res := range r.agent.Resources {
		add(agent.ToolRef{Server: res.Server})
	}
	if server, name, ok := strings.Cut(r.agent.ChainedTool, "/"); ok && name != "" {
		add(agent.ToolRef{Server: server})
	}
	return names
}

// uriOf returns the resource that a tool reads, "" for one that is called.
func uriOf(ref agent.ToolRef) string {
	if ref.URI == "" && strings.Contains(ref.Name, "://") {
		return ref.Name
	}
	return ref.URI
}

// again reports whether the document has already declared the same tool or resource.
func (r *resolver) again(ref agent.ToolRef, uri string) bool {
	server := ref.Server
	if ref.LocalBeside(r.rem) {
		server = ""
	}
	if r.seen == nil {
		r.seen = map[[3]string]bool{}
	}
	k := [3]string{server, ref.Name, uri}
	double := r.seen[k]
	r.seen[k] = true
	return double
}

func (r *resolver) tool(ref agent.ToolRef) {
	uri := uriOf(ref)
	if r.again(ref, uri) {
		return
	}
	if uri != "" {
		name := ref.Name
		if name == uri {
			name = ""
		}
		r.resourceTool(ref, agent.Resource{URI: uri, Name: name, Description: ref.Description, Server: ref.Server})
		return
	}
	if ref.LocalBeside(r.rem) {
		if t := r.box.Local.Get(ref.Name); t != nil {
			r.out.Tools = append(r.out.Tools, r.declared(t, ref))
			return
		}
		r.miss(Missing{Ref: ref, Near: near.Names(ref.Name, r.box.Local.Names(), maxNear)})
		return
	}
	a, ok := r.server(ref)
	if !ok {
		return
	}
	if t := pick(a.tools, ref.Name); t != nil {
		r.add(r.declared(t, ref), ref.Server)
		return
	}
	if why := unusable(a.server, ref.Name); why != "" {
		r.miss(Missing{Ref: ref, Reason: "p8 cannot use it: " + why})
		return
	}
	r.miss(Missing{Ref: ref, Near: r.near(ref, a.tools), Reason: "the MCP server " + ref.Server + " has no such tool"})
}

// unusable returns why a server's tool is left out.
func unusable(server Server, name string) string {
	if s, ok := server.(interface{ Unusable(name string) string }); ok {
		return s.Unusable(name)
	}
	return ""
}

// declared returns the tool as the document declares it: with the document's note,
// unless the prompt has Tool Notes, and its policies.
func (r *resolver) declared(t Tool, ref agent.ToolRef) Tool {
	if r.agent.Document != nil && r.agent.Document.Dialect == agent.Nested {
		t = WithNote(t, ref.Description)
	}
	return withPolicies(t, r.agent.Name, ref)
}

// withPolicies returns the tool with the document's policies of approval and
// interrupted calls.
func withPolicies(t Tool, asks string, ref agent.ToolRef) Tool {
	return withInterrupted(withApproval(t, asks, ref), ref.IfInterrupted)
}

// pick returns a server's tool by the server's name for it or the model's.
func pick(tools []Tool, name string) Tool {
	for _, t := range tools {
		if OriginalName(t) == name {
			return t
		}
	}
	for _, t := range tools {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// near returns similar names on the server, else the same name on another server whose tools
// were listed.
func (r *resolver) near(ref agent.ToolRef, tools []Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = OriginalName(t)
	}
	similar := near.Names(ref.Name, names, maxNear)
	if len(similar) > 0 {
		return similar
	}
	for _, server := range r.servers() {
		if pick(r.answers[server].tools, ref.Name) != nil {
			similar = append(similar, server+"/"+ref.Name)
		}
	}
	if r.box.Local.Get(ref.Name) != nil {
		similar = append(similar, ref.Name+" of this process")
	}
	return similar[:min(len(similar), maxNear)]
}

// server returns the list of the reference's server. If the server is unknown or down,
// its tools are missing together.
func (r *resolver) server(ref agent.ToolRef) (answer, bool) {
	a, ok := r.answers[ref.Server]
	if ok && a.err == nil {
		return a, true
	}
	r.miss(r.without(ref))
	return answer{}, false
}

// without records the reference as missing because of its server.
func (r *resolver) without(ref agent.ToolRef) Missing {
	m := Missing{Ref: ref}
	a, ok := r.answers[ref.Server]
	switch {
	case ok:
		m.Reason = r.down(ref.Server, a.err)
	case r.box.Servers == nil || len(r.box.Servers.Names()) == 0:
		m.Reason = fmt.Sprintf("no MCP server is configured; set MCP_SERVER_%s to its address, or P8_MCP_CONFIG to a file with mcpServers",
			strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(ref.Server)))
	default:
		m.Reason = "there is no MCP server named " + ref.Server
		m.Near = near.Names(ref.Server, r.box.Servers.Names(), maxNear)
	}
	return m
}

// down says why a server does not answer.
func (r *resolver) down(server string, err error) string {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "the MCP server " + server + " did not answer in time"
	}
	r.box.logger().Warn("an MCP server could not be asked for its tools", "mcp_server", server, "error", err)
	return "the MCP server " + server + " is down"
}

// miss records a missing tool; tools that are missing for one reason share a message.
func (r *resolver) miss(m Missing) {
	for i := range r.out.Missing {
		before := &r.out.Missing[i]
		if before.Reason != "" && before.Reason == m.Reason && before.Ref.Server == m.Ref.Server && slices.Equal(before.Near, m.Near) {
			before.Also = append(before.Also, m.Ref.Name)
			return
		}
	}
	r.out.Missing = append(r.out.Missing, m)
}

// add offers a tool to the model under a free name: the server's name is put before a
// taken one.
func (r *resolver) add(t Tool, server string) {
	spec := t.Spec()
	name := spec.Name
	if r.taken[name] {
		if server == "" {
			server = "local"
		}
		name = llm.SafeName(strings.ReplaceAll(strings.ToLower(server), "-", "_") + "_" + name)
	}
	base := name
	for i := 2; r.taken[name]; i++ {
		suffix := fmt.Sprintf("_%d", i)
		name = base[:min(len(base), 64-len(suffix))] + suffix
	}
	r.taken[name] = true
	if name != spec.Name {
		spec.Name = name
		t = withSpec(t, spec)
	}
	r.out.Tools = append(r.out.Tools, t)
}

// chained returns the tool that gets the answer, with its policies from tools.
func (r *resolver) chained() Tool {
	t := r.chainedTool()
	if t == nil {
		return nil
	}
	for _, ref := range r.agent.Tools {
		if name := r.agent.ChainedTool; ref.Name == name || !ref.LocalBeside(r.rem) && ref.Server+"/"+ref.Name == name {
			return withPolicies(t, r.agent.Name, ref)
		}
	}
	return t
}

// chainedTool finds a declared tool, else this process's, else "server/name".
func (r *resolver) chainedTool() Tool {
	name := r.agent.ChainedTool
	if name == "" {
		return nil
	}
	for _, ref := range r.agent.Tools {
		if ref.Name == name && !ref.LocalBeside(r.rem) {
			if t := pick(r.answers[ref.Server].tools, name); t != nil {
				return t
			}
		}
	}
	if t := r.box.Local.Get(name); t != nil {
		return t
	}
	names := r.box.Local.Names()
	if server, rest, ok := strings.Cut(name, "/"); ok {
		a, there := r.answers[server]
		if t := pick(a.tools, rest); t != nil {
			return t
		}
		if !there || a.err != nil {
			r.out.ChainedMissing = r.without(agent.ToolRef{Name: name, Server: server})
			return nil
		}
		if why := unusable(a.server, rest); why != "" {
			r.out.ChainedMissing = Missing{Ref: agent.ToolRef{Name: name}, Reason: "p8 cannot use it: " + why}
			return nil
		}
		for _, t := range a.tools {
			names = append(names, server+"/"+OriginalName(t))
		}
	}
	r.out.ChainedMissing = Missing{Ref: agent.ToolRef{Name: name}, Near: near.Names(name, names, maxNear)}
	return nil
}
