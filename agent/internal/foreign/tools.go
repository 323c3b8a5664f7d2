package foreign

import (
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/tree"
)

// tool adds a tool by its name, once.
func (b *builder) tool(pos tree.Position, name string) {
	if !b.named[name] {
		b.named[name] = true
		b.tools = append(b.tools, text(name, pos))
	}
}

// remote adds a tool of an MCP server, once.
func (b *builder) remote(pos tree.Position, server, name string) {
	if b.named[server+"/"+name] {
		return
	}
	b.named[server+"/"+name] = true
	b.tools = append(b.tools, &tree.Node{Kind: tree.Object, Pos: pos, Members: []tree.Member{
		{Key: "name", Pos: pos, Value: text(name, pos)},
		{Key: "server", Pos: pos, Value: text(server, pos)},
	}})
}

// serverHint says how an agent gets the tools of an MCP server.
func serverHint(server string) string {
	if server == "" {
		server = "name"
	}
	return "name the server in P8_MCP_CONFIG or MCP_SERVER_<NAME>, and each tool in tools, as in {name: …, server: " + clip(server) + "}; `p8 tools` lists them"
}

// item is one entry of a list that a file writes as a list or as a text with commas.
type item struct {
	text string
	pos  tree.Position
}

// items returns the entries of a list, or of a text with commas; ok is false for another
// value.
func items(n *tree.Node) (list []item, ok bool) {
	switch n.Kind {
	case tree.Null:
		return nil, true
	case tree.Array:
		for _, v := range n.Items {
			if v.Kind != tree.Text {
				return nil, false
			}
			list = append(list, split(v)...)
		}
		return list, true
	case tree.Text:
		return split(n), true
	}
	return nil, false
}

// split splits a text at commas and line breaks outside of parentheses. The positions are
// exact if the text is one line of the file.
func split(n *tree.Node) []item {
	var list []item
	depth, begin := 0, 0
	add := func(end int) {
		part := n.Text[begin:end]
		word := strings.TrimSpace(part)
		if word = strings.TrimSpace(strings.TrimPrefix(word, "- ")); word == "" {
			return
		}
		pos := n.Pos
		if !strings.Contains(n.Text, "\n") {
			pos.Column += int32(utf8.RuneCountInString(n.Text[:begin+strings.Index(part, word)]))
		}
		list = append(list, item{word, pos})
	}
	for i := range len(n.Text) {
		switch c := n.Text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '\n', c == ',' && depth <= 0:
			add(i)
			begin, depth = i+1, 0
		}
	}
	add(len(n.Text))
	return list
}

// kinds collects the tools that are left out, in groups with one reason each.
type kinds struct {
	list []*kind
}

type kind struct {
	pos   tree.Position
	hint  string
	names []string
}

// add adds a tool to the group of its reason.
func (k *kinds) add(pos tree.Position, name, hint string) {
	for _, g := range k.list {
		if g.hint == hint {
			g.names = append(g.names, name)
			return
		}
	}
	k.list = append(k.list, &kind{pos, hint, []string{name}})
}

// report writes a note for each group.
func (k *kinds) report(b *builder) {
	for _, g := range k.list {
		const most = 8
		names := make([]string, 0, most)
		for _, name := range g.names[:min(len(g.names), most)] {
			names = append(names, clip(name))
		}
		listed := strings.Join(names, ", ")
		switch {
		case len(g.names) > most:
			b.note(g.pos, g.hint, "%d tools are left out: %s and others", len(g.names), listed)
		case len(g.names) > 1:
			b.note(g.pos, g.hint, "the tools %s are left out", listed)
		default:
			b.note(g.pos, g.hint, "the tool %s is left out", listed)
		}
	}
}

// Reasons for tools that p8 does not have.
const (
	noFiles = "p8 has no files of this machine: store documents with `p8 upsert` and add the tool search, or add tools of an MCP server for files"
	noShell = "p8 runs no commands: add a tool of an MCP server that does"
	noFetch = "p8 fetches no pages: add web_search, or a tool of an MCP server"
	noPlans = "p8 has no list of tasks: properties of the document can guide its thinking"
	noSkill = "p8 has no skills: write what the skill says into the prompt"
	noTool  = "`p8 tools` lists what there is"
)
