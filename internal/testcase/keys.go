package testcase

import (
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/tree"
)

// keys reads a mapping and knows which of its keys were read.
type keys struct {
	p    *parser
	node *tree.Node
	what string
	used []string
}

func (p *parser) keys(n *tree.Node, what string) *keys {
	k := &keys{p: p, node: n, what: what}
	if !k.ok() {
		p.report(n.Pos, "write keys with values", "%s is a mapping, not %s", what, n.Kind)
	}
	return k
}

func (k *keys) ok() bool { return k.node.Kind == tree.Object }

// get returns the value of a key, nil if it is absent or null.
func (k *keys) get(key string) *tree.Node {
	k.used = append(k.used, key)
	if n := k.node.Get(key); n != nil && n.Kind != tree.Null {
		return n
	}
	return nil
}

// text returns a text, "" if it is absent.
func (k *keys) text(key string) string {
	n := k.get(key)
	switch {
	case n == nil:
	case n.Kind != tree.Text:
		k.p.report(n.Pos, "write a text", "%s must be a text, not %s", key, n.Kind)
	case strings.TrimSpace(n.Text) == "":
		k.p.report(n.Pos, "write a text, or leave the key out", "%s is empty", key)
	default:
		return n.Text
	}
	return ""
}

// texts returns a list of texts; a text is a list of one.
func (k *keys) texts(key string) []string {
	n := k.get(key)
	if n == nil {
		return nil
	}
	items := n.Items
	if n.Kind != tree.Array {
		items = []*tree.Node{n}
	}
	var out []string
	for _, item := range items {
		if item.Kind != tree.Text || item.Text == "" {
			k.p.report(item.Pos, "write a text, or a list of texts", "%s must be a text, not %s", key, item.Kind)
			continue
		}
		out = append(out, item.Text)
	}
	return out
}

// list returns the items of a list.
func (k *keys) list(key string) []*tree.Node {
	n := k.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != tree.Array {
		k.p.report(n.Pos, "begin each item with a dash", "%s must be a list, not %s", key, n.Kind)
	}
	return n.Items
}

// number returns a number above 0; 0 if it is absent or a mistake.
func (k *keys) number(key string) float64 {
	n := k.get(key)
	if n == nil {
		return 0
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != tree.Number || err != nil || f <= 0 || f > 1e12 {
		k.p.report(n.Pos, "write a number", "%s must be a number above 0", key)
		return 0
	}
	return f
}

// end reports the keys that were not read.
func (k *keys) end() {
	if !k.ok() {
		return
	}
	for _, m := range k.node.Members {
		if slices.Contains(k.used, m.Key) {
			continue
		}
		hint := "there are " + strings.Join(k.used, ", ")
		if similar := near.Names(m.Key, k.used, 1); len(similar) > 0 {
			hint = "did you mean " + similar[0] + "?"
		}
		k.p.report(m.Pos, hint, "%s has no key %q", k.what, tree.Clip(m.Key, 60))
	}
}
