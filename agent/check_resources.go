package agent

import (
	"cmp"
	"strings"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
)

// checkServers requires that the servers of resources and of their tools exist, and
// that patterns are regular expressions.
func (r *report) checkServers(d *Document, k toolNames) {
	for i, t := range d.Tools {
		if t.reads() {
			r.checkServer(d, k, "tools", i, t)
		}
	}
	for i, res := range d.Resources {
		name := cmp.Or(res.Name, res.URI, res.URIPattern)
		r.checkServer(d, k, "resources", i, ToolRef{Name: name, Server: res.Server})
		if _, err := schema.Pattern(res.URIPattern); err != nil {
			at, p := d.item("resources", i)
			r.warnf(at, p, "write one as Go has it, without lookaround", "the uri_pattern of the resource %q is no regular expression and the resource is left out", clip(name, 60))
		}
	}
}

func (r *report) checkServer(d *Document, k toolNames, list string, i int, t ToolRef) {
	if t.LocalBeside(k.servers[ServerREM] != nil) || k.servers[near.Fold(t.Server)] != nil {
		return
	}
	at, p := d.item(list, i)
	hint := "set MCP_SERVER_<NAME> or P8_MCP_CONFIG"
	if len(k.serverNames) > 0 {
		hint = cmp.Or(didYouMean(t.Server, k.serverNames), "there are "+strings.Join(k.serverNames[:min(8, len(k.serverNames))], ", "))
	}
	r.warnf(at, p, hint, "the MCP server %q of the resource %q does not exist here and the resource is left out", clip(t.Server, 60), clip(t.Name, 60))
}

// reads reports whether the tool reads a resource.
func (t ToolRef) reads() bool { return t.URI != "" || strings.Contains(t.Name, "://") }

// item returns the position of an element of a list.
func (d *Document) item(key string, i int) (position, string) {
	if d.root == nil {
		return position{}, tree.Element("/"+key, i)
	}
	pos, pointer := d.at(key)
	if list := d.config(key); list != nil && i < len(list.Items) {
		pos = list.Items[i].Pos
	}
	return pos, tree.Element(pointer, i)
}
