package foreign

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// isPydantic reports whether a file is an agent spec: it has a key of specs, and none that
// only p8's documents have.
func isPydantic(f File) bool {
	if f.Body != nil {
		return false
	}
	found := false
	for _, m := range f.Root.Members {
		switch m.Key {
		case "instructions", "capabilities", "model_settings", "output_schema", "output_type", "deps_schema":
			found = true
		case "$schema", "model", "name", "description", "system_prompt", "retries", "end_strategy", "tool_timeout", "instrument", "metadata":
		default:
			return false
		}
	}
	return found
}

// readPydantic reads an agent spec.
func readPydantic(f File) []Agent {
	b := newBuilder()
	prompt := f.Root.Get("instructions")
	var answer *tree.Member
	for i, m := range f.Root.Members {
		switch m.Key {
		case "$schema", "instructions", "system_prompt":
		case "name":
			b.text("name", m)
		case "description":
			b.text("short_description", m)
			b.templates(m.Value)
		case "model":
			b.pydanticModel(m)
		case "model_settings":
			b.settings(m)
		case "capabilities":
			b.capabilities(m)
		case "output_schema":
			answer = &f.Root.Members[i]
		case "output_type":
			b.outputType(m, &answer)
		case "retries", "end_strategy", "tool_timeout":
			b.leave(m, "p8 sets it for all agents: P8_TOOL_TIMEOUT, and two more tries of an answer")
		default: // deps_schema, instrument, metadata
			b.leave(m, "p8 has nothing like it")
		}
	}
	if answer != nil && answer.Value.Kind != tree.Null {
		b.answer(*answer, answer.Value)
	}
	b.prompt("instructions", b.instructions(prompt, f.Root.Get("system_prompt")), f.Root.Pos)
	return []Agent{b.agent(f.Root.Pos)}
}

// outputType reads the type of an answer: a text, or a schema.
func (b *builder) outputType(m tree.Member, answer **tree.Member) {
	switch {
	case m.Value.Kind == tree.Object:
		*answer = &m
	case m.Value.Kind != tree.Null && m.Value.Str() != "str":
		b.note(m.Value.Pos, "write its JSON Schema as output_schema", "output_type is left out: p8 does not know this type")
	}
}

// instructions joins texts and lists of texts, nil if there are none.
func (b *builder) instructions(values ...*tree.Node) *tree.Node {
	var parts []string
	var first *tree.Node
	var collect func(v *tree.Node)
	collect = func(v *tree.Node) {
		switch {
		case v == nil || v.Kind == tree.Null:
			return
		case v.Kind == tree.Array:
			for _, item := range v.Items {
				collect(item)
			}
			return
		case v.Kind != tree.Text:
			b.mistake(v.Pos, "", "instructions must be a string or a list of strings, not %s", v.Kind)
			return
		}
		if first == nil {
			first = v
		}
		b.templates(v)
		parts = append(parts, strings.TrimSpace(v.Text))
	}
	for _, v := range values {
		collect(v)
	}
	if len(parts) < 2 {
		return first
	}
	return text(strings.Join(parts, "\n\n")+"\n", first.Pos)
}

// templates reports variables, which p8 does not fill in.
func (b *builder) templates(v *tree.Node) {
	if strings.Contains(v.Str(), "{{") {
		b.note(v.Pos, "write what it stands for; p8 tells agents the user, the date and the session", "{{…}} stays as it is: p8 fills in no variables")
	}
}

// pydanticModel puts a model that is named provider:model, or only by a well-known name.
func (b *builder) pydanticModel(m tree.Member) {
	if !b.is(tree.Text, m) {
		return
	}
	name := m.Value.Text
	provider, model, found := strings.Cut(name, ":")
	switch {
	case found:
		b.model(m.Value.Pos, b.modelOf(m.Value.Pos, strings.TrimPrefix(provider, "gateway/"), model))
	case strings.HasPrefix(name, "gpt-"), strings.HasPrefix(name, "claude-"), strings.HasPrefix(name, "gemini-"):
		b.model(m.Value.Pos, name)
	default:
		b.note(m.Value.Pos, modelHint, "the model %q is left out: it names no provider", clip(name))
	}
}

// settings puts the settings of the model.
func (b *builder) settings(m tree.Member) {
	if !b.is(tree.Object, m) {
		return
	}
	for _, s := range m.Value.Members {
		switch s.Key {
		case "max_tokens", "temperature", "top_p":
			b.take(s.Key, s)
		case "stop_sequences":
			b.take("stop", s)
		case "thinking":
			b.effort(s)
		default:
			b.leave(s, "p8 has no such setting of a model")
		}
	}
}

// capabilities puts the tools of capabilities: a name, or a mapping of a name to its
// argument or arguments.
func (b *builder) capabilities(m tree.Member) {
	if !b.is(tree.Array, m) {
		return
	}
	var left kinds
	for _, c := range m.Value.Items {
		name, args, pos := c.Str(), (*tree.Node)(nil), c.Pos
		if c.Kind == tree.Object && len(c.Members) == 1 {
			name, args, pos = c.Members[0].Key, c.Members[0].Value, c.Members[0].Pos
		}
		switch name {
		case "":
			b.mistake(c.Pos, "write a name, or one name with its arguments", "a capability must be a text or a mapping with one key")
		case "WebSearch":
			b.tool(pos, "web_search")
		case "WebFetch":
			left.add(pos, name, noFetch)
		case "Thinking":
			if effort := args.Get("effort"); effort != nil {
				args = effort
			}
			if args != nil && args.Kind != tree.Object {
				b.effort(tree.Member{Key: "Thinking", Pos: pos, Value: args})
			}
		case "MCP":
			b.capabilityMCP(pos, args)
		case "ToolSearch", "Instrumentation", "IncludeToolReturnSchemas", "ReinjectSystemPrompt", "RaiseContentFilterError":
			b.note(pos, "p8 has nothing like it", "the capability %s is left out", name)
		default:
			left.add(pos, name, noTool)
		}
	}
	left.report(b)
}

// capabilityMCP puts the tools of an MCP server that a spec names.
func (b *builder) capabilityMCP(pos tree.Position, args *tree.Node) {
	server := args.Get("id").Str()
	var names []item
	if allowed := args.Get("allowed_tools"); allowed != nil {
		names, _ = items(allowed)
	}
	if server == "" {
		url := args.Str()
		if url == "" {
			url = args.Get("url").Str()
		}
		server = serverOf(url)
	}
	if len(names) == 0 || server == "" {
		b.note(pos, serverHint(server), "the tools of the MCP server are left out: p8 must know their names")
		return
	}
	for _, n := range names {
		b.remote(n.pos, server, n.text)
	}
	b.note(pos, "set MCP_SERVER_<NAME> or P8_MCP_CONFIG", "p8 does not connect to the MCP server %q from this file", clip(server))
}

// serverOf makes a name of an address: the first part of its host that is not generic.
func serverOf(url string) string {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		return ""
	}
	host := rest[:strings.IndexAny(rest+"/", "/:?#")]
	parts := strings.Split(host, ".")
	for _, part := range parts {
		if part != "" && !slices.Contains([]string{"www", "mcp", "api"}, part) {
			return part
		}
	}
	return ""
}
