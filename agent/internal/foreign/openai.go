package foreign

import "github.com/p8-org/p8/internal/tree"

// isAssistant reports whether a file is an assistant, or a list of assistants, as the API
// returns them: each says that it is one.
func isAssistant(f File) bool {
	if f.Body != nil {
		return false
	}
	list := assistants(f.Root)
	for _, a := range list {
		if a.Get("object").Str() != "assistant" {
			return false
		}
	}
	return len(list) > 0
}

// assistants returns those of a list, or the one of the file.
func assistants(root *tree.Node) []*tree.Node {
	if data := root.Get("data"); root.Get("object").Str() == "list" && data != nil {
		return data.Items
	}
	return []*tree.Node{root}
}

// readAssistant reads one assistant, or a list of them.
func readAssistant(f File) []Agent {
	list := assistants(f.Root)
	agents := make([]Agent, 0, len(list))
	for _, a := range list {
		b := newBuilder()
		if len(list) > 1 && a.Get("name").Str() == "" {
			b.mistake(a.Pos, "add name", "an assistant of a list needs a name")
		}
		b.assistant(a)
		agents = append(agents, b.agent(a.Pos))
	}
	return agents
}

func (b *builder) assistant(a *tree.Node) {
	for _, m := range a.Members {
		switch m.Key {
		case "id", "object", "created_at", "instructions":
		case "name":
			if m.Value.Kind != tree.Text || m.Value.Text != "" {
				b.text("name", m)
			}
		case "description":
			b.text("short_description", m)
		case "model":
			if b.is(tree.Text, m) {
				b.model(m.Value.Pos, "openai:"+m.Value.Text)
			}
		case "temperature", "top_p":
			b.take(m.Key, m)
		case "reasoning_effort":
			b.effort(m)
		case "tools":
			b.assistantTools(m)
		case "response_format":
			b.responseFormat(m)
		case "tool_resources", "file_ids":
			if !empty(m.Value) {
				b.leave(m, "store the files with `p8 upsert`")
			}
		case "metadata":
			if !empty(m.Value) {
				b.leave(m, "tags can label a document")
			}
		default:
			b.unknown(m)
		}
	}
	instructions := a.Get("instructions")
	if instructions != nil && instructions.Kind != tree.Text && instructions.Kind != tree.Null {
		b.mistake(instructions.Pos, "", "instructions must be %s, not %s", tree.Text, instructions.Kind)
		return
	}
	b.prompt("instructions", instructions, a.Pos)
}

// empty reports whether a value has nothing but empty lists and mappings.
func empty(n *tree.Node) bool {
	for _, m := range n.Members {
		if !empty(m.Value) {
			return false
		}
	}
	return n.Kind == tree.Null || n.Kind == tree.Object || n.Kind == tree.Array && len(n.Items) == 0
}

// assistantTools puts the tools that p8 has.
func (b *builder) assistantTools(m tree.Member) {
	if !b.is(tree.Array, m) {
		return
	}
	var left kinds
	for _, t := range m.Value.Items {
		switch kind := t.Get("type").Str(); kind {
		case "file_search", "retrieval":
			b.tool(t.Pos, "search")
			b.note(t.Pos, "store its files with `p8 upsert`", "%s becomes the tool search, which finds what is stored in p8", kind)
		case "code_interpreter":
			left.add(t.Pos, kind, noShell)
		case "function":
			name := t.Get("function").Get("name").Str()
			if name == "" {
				b.mistake(t.Pos, "add function: {name: …}", "a function has no name")
				continue
			}
			left.add(t.Pos, name, "a client's own function: send it in tools with each request, or make it a tool of an MCP server")
		case "":
			b.mistake(t.Pos, "add type", "a tool has no type")
		default:
			left.add(t.Pos, kind, noTool)
		}
	}
	left.report(b)
}

// responseFormat makes the agent answer with JSON if a schema says how.
func (b *builder) responseFormat(m tree.Member) {
	kind := m.Value.Get("type").Str()
	switch {
	case m.Value.Kind == tree.Null, m.Value.Str() == "auto", kind == "text":
	case kind == "json_schema":
		b.answer(m, m.Value.Get("json_schema").Get("schema"))
	default:
		b.leave(m, "write the fields of the answer as properties, with structured_output: true")
	}
}
