package foreign

import (
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// toolsets puts the tools that p8 has.
func (b *builder) toolsets(m tree.Member) {
	if !b.is(tree.Array, m) {
		return
	}
	var left kinds
	for _, set := range m.Value.Items {
		switch kind := set.Get("type").Str(); kind {
		case "":
			b.mistake(set.Pos, "add type, such as type: mcp", "a toolset has no type")
		case "mcp":
			b.serverTools(set)
			b.unused(set)
		case "memory":
			b.unused(set)
			b.tool(set.Pos, "get_user_profile")
			b.tool(set.Pos, "update_user_metadata")
		case "user_prompt":
			b.unused(set)
			b.tool(set.Pos, "action")
		case "think":
			left.add(set.Pos, kind, "set reasoning_effort, or let properties guide the thinking")
		case "todo", "tasks":
			left.add(set.Pos, kind, noPlans)
		case "filesystem", "lsp":
			left.add(set.Pos, kind, noFiles)
		case "shell", "script":
			left.add(set.Pos, kind, noShell)
		case "fetch":
			left.add(set.Pos, kind, noFetch)
		case "api", "openapi", "a2a":
			left.add(set.Pos, kind, "make it a tool of an MCP server")
		case "background_agents":
			left.add(set.Pos, kind, "add ask_agent: agents of one step run in parallel")
		default:
			left.add(set.Pos, kind, noTool)
		}
	}
	left.report(b)
}

// unused reports the keys that change a toolset whose tools p8 has.
func (b *builder) unused(set *tree.Node) {
	for _, m := range set.Members {
		switch m.Key {
		case "type", "name", "ref", "command", "args", "remote", "tools", "env", "version", "config":
		default:
			b.leave(m, "p8 has nothing like it")
		}
	}
}

// serverTools puts the tools of an MCP server that a toolset names.
func (b *builder) serverTools(set *tree.Node) {
	server := set.Get("name").Str()
	if server == "" {
		ref := set.Get("ref").Str()
		server = ref[strings.LastIndexAny(ref, ":/")+1:]
	}
	if server == "" {
		server = serverOf(set.Get("remote").Get("url").Str())
	}
	var names []item
	if tools := set.Get("tools"); tools != nil {
		names, _ = items(tools)
	}
	if len(names) == 0 || server == "" {
		b.note(set.Pos, serverHint(server), "the tools of the MCP server are left out: p8 must know their names")
		return
	}
	for _, n := range names {
		b.remote(n.pos, server, n.text)
	}
	b.note(set.Pos, "set MCP_SERVER_<NAME> or P8_MCP_CONFIG", "p8 does not connect to the MCP server %q from this file", clip(server))
}
