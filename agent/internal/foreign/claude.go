package foreign

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// isClaude reports whether a Markdown file is a sub-agent of Claude Code. Its front matter
// has a name and a key that only agents have, or a name and a description and nothing else.
// Pages with a title, a category or edges have other keys; skills have other tools keys, or
// the file name SKILL.md.
func isClaude(f File) bool {
	if f.Body == nil || f.Root.Get("name") == nil || strings.EqualFold(f.Name, "SKILL.md") {
		return false
	}
	described, others := f.Root.Get("description") != nil, false
	for _, m := range f.Root.Members {
		switch m.Key {
		case "allowed-tools", "allowed_tools", "argument-hint", "title", "layout", "edges", "graph_edges", "entity_key":
			return false
		case "disallowedTools", "permissionMode", "mcpServers", "maxTurns":
			return true
		case "tools":
			if described || slices.ContainsFunc(words(m.Value), isClaudeTool) {
				return true
			}
		case "model":
			if described && isClaudeModel(m.Value.Str()) {
				return true
			}
			others = true
		case "name", "description", "color":
		default:
			others = true
		}
	}
	return described && !others
}

func words(n *tree.Node) []string {
	list, _ := items(n)
	var out []string
	for _, i := range list {
		out = append(out, i.text)
	}
	return out
}

// isClaudeModel reports whether a text is an alias or a full name of a model.
func isClaudeModel(s string) bool {
	s, _, _ = strings.Cut(strings.ToLower(s), "[")
	return strings.HasPrefix(s, "claude-") ||
		slices.Contains([]string{"inherit", "default", "best", "sonnet", "opus", "haiku", "fable", "opusplan"}, s)
}

func isClaudeTool(name string) bool {
	name, _, _ = strings.Cut(name, "(")
	_, own := claudeTool(name)
	return own || strings.HasPrefix(name, "mcp__")
}

// claudeTool returns why p8 does not have a tool of Claude Code, "" if it has one like it.
func claudeTool(name string) (reason string, known bool) {
	switch name {
	case "WebSearch", "Task", "Agent", "AskUserQuestion":
		return "", true
	case "Read", "Write", "Edit", "MultiEdit", "NotebookRead", "NotebookEdit", "Grep", "Glob", "LS", "LSP":
		return noFiles, true
	case "Bash", "BashOutput", "KillBash", "KillShell", "PowerShell", "Monitor":
		return noShell, true
	case "WebFetch":
		return noFetch, true
	case "TodoWrite", "TodoRead", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop", "TaskOutput", "EnterPlanMode", "ExitPlanMode":
		return noPlans, true
	case "Skill", "SlashCommand":
		return noSkill, true
	}
	return noTool, false
}

// readClaude reads a sub-agent.
func readClaude(f File) []Agent {
	b := newBuilder()
	var tools, denied *tree.Member
	for i, m := range f.Root.Members {
		switch m.Key {
		case "name":
			b.text(m.Key, m)
		case "version", "author", "category":
			if m.Value.Kind == tree.Number { // version: 1.0
				m.Value = text(m.Value.Text, m.Value.Pos)
			}
			b.text(m.Key, m)
		case "description":
			if b.is(tree.Text, m) {
				// Claude Code writes line breaks as \n in one line.
				b.put("short_description", m.Pos, text(strings.TrimSpace(strings.ReplaceAll(m.Value.Text, `\n`, "\n")), m.Value.Pos))
			}
		case "tools":
			tools = &f.Root.Members[i]
		case "disallowedTools":
			denied = &f.Root.Members[i]
		case "model":
			b.claudeModel(m)
		case "maxTurns":
			b.limit(m)
		case "effort":
			b.effort(m)
		case "tags":
			b.tags(m)
		case "mcpServers":
			b.leave(m, serverHint(""))
		case "permissionMode":
			b.leave(m, "write approval: always, or rules, at the tools that must ask")
		case "skills":
			b.leave(m, noSkill)
		case "memory":
			b.leave(m, "p8 remembers sessions by itself; the tools get_user_profile and update_user_metadata keep facts about the user")
		case "hooks", "background", "isolation", "initialPrompt", "color":
			b.leave(m, "p8 has nothing like it")
		default:
			b.unknown(m)
		}
	}
	b.claudeTools(f, tools, denied)
	b.prompt("prompt below the front matter", f.Body, f.Root.Pos)
	return []Agent{b.agent(f.Root.Pos)}
}

// claudeModel puts a model by its full name. An alias means whatever model is the newest,
// which p8 leaves to the default model.
func (b *builder) claudeModel(m tree.Member) {
	if !b.is(tree.Text, m) {
		return
	}
	switch name := strings.TrimSpace(m.Value.Text); {
	case name == "" || name == "inherit" || name == "default":
	case strings.HasPrefix(name, "claude-"):
		name, _, _ = strings.Cut(name, "[")
		b.model(m.Value.Pos, "anthropic:"+name)
	default:
		b.note(m.Value.Pos, modelHint, "the model %q is left out: p8 has no such alias", clip(name))
	}
}

// claudeTools puts the tools that p8 has, without the denied ones.
func (b *builder) claudeTools(f File, tools, denied *tree.Member) {
	no := map[string]bool{}
	if denied != nil {
		for _, word := range words(denied.Value) {
			no[word] = true
		}
	}
	if tools == nil {
		b.note(f.Root.Pos, "name its tools in tools", "the file names no tools, which gives all tools in Claude Code and none in p8")
		return
	}
	list, ok := items(tools.Value)
	if !ok {
		b.mistake(tools.Value.Pos, "write them as in tools: WebSearch, mcp__crm__find_customer", "tools must be a text with commas or a list of texts")
		return
	}
	var left kinds
	for _, i := range list {
		name, of, _ := strings.Cut(i.text, "(")
		reason, _ := claudeTool(name)
		server, remote := strings.CutPrefix(name, "mcp__")
		switch {
		case no[i.text] || no[name]:
		case i.text == "*":
			b.note(i.pos, "name its tools", "p8 gives no agent all tools: it has none of them")
		case remote:
			server, tool, _ := strings.Cut(server, "__")
			if tool == "" || tool == "*" || server == "" {
				left.add(i.pos, i.text, serverHint(server))
				continue
			}
			b.remote(i.pos, server, tool)
		case reason != "":
			left.add(i.pos, i.text, reason)
		case name == "WebSearch":
			b.tool(i.pos, "web_search")
		case name == "AskUserQuestion":
			b.tool(i.pos, "action")
		default: // Task and Agent
			b.tool(i.pos, "ask_agent")
			b.agents(i.pos, strings.TrimSuffix(of, ")"))
		}
	}
	left.report(b)
}

// agents puts the agents that may be asked, from a text with commas; all if it is "".
func (b *builder) agents(pos tree.Position, names string) {
	var list []*tree.Node
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, text(name, pos))
		}
	}
	if len(list) > 0 {
		b.put("agents", pos, &tree.Node{Kind: tree.Array, Pos: pos, Items: list})
	}
}

// tags puts a list of labels.
func (b *builder) tags(m tree.Member) {
	list, ok := items(m.Value)
	if !ok {
		b.mistake(m.Value.Pos, "write them as in tags: [review, go]", "tags must be a text with commas or a list of texts")
		return
	}
	tags := &tree.Node{Kind: tree.Array, Pos: m.Value.Pos}
	for _, i := range list {
		tags.Items = append(tags.Items, text(i.text, i.pos))
	}
	if len(list) > 0 {
		b.put("tags", m.Pos, tags)
	}
}
