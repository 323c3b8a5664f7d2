// Package tree reads YAML and JSON from untrusted authors, within bounds, into the tree of a
// document: JSON values with the order of their keys and their positions in the source.
package tree

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Kind is the JSON type of a node.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Boolean
	Number
	Text
	Array
	Object
)

var kindNames = [...]string{
	Null: "null", Boolean: "a boolean", Number: "a number",
	Text: "a string", Array: "a list", Object: "a mapping",
}

// String names the kind for an error, such as "a list".
func (k Kind) String() string { return kindNames[k] }

// Node is a JSON value with the order of its keys and its position. A document's
// tree never changes once it is read, so nodes may be shared (a YAML alias is the
// node of its anchor).
type Node struct {
	Kind Kind
	// Text is a string's value, a number's JSON literal, "true" or "false".
	Text    string
	Items   []*Node
	Members []Member
	Pos     Position
	// Weight counts the nodes and bytes of the value when written out, Depth its
	// levels. They bound alias bombs.
	Weight, Depth int
}

// Member is a key of a mapping with its value.
type Member struct {
	Key   string
	Pos   Position
	Value *Node
}

// Position is a line and column in the source, from 1; the zero value is unknown.
type Position struct{ Line, Column int32 }

// At returns a position.
func At(line, column int32) Position { return Position{line, column} }

// Get returns the value of a key, nil if absent.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// Str returns the value of a string, "" for anything else.
func (n *Node) Str() string {
	if n == nil || n.Kind != Text {
		return ""
	}
	return n.Text
}

// MarshalJSON writes the value compactly, keys in their order.
func (n *Node) MarshalJSON() ([]byte, error) { return n.AppendJSON(nil), nil }

// AppendJSON writes the value compactly, keys in their order.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case Boolean, Number:
		return append(b, n.Text...)
	case Text:
		return AppendQuoted(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, v := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.AppendJSON(b)
		}
		return append(b, ']')
	case Object:
		return appendMembers(b, n.Members)
	}
	return append(b, "null"...)
}

func appendMembers(b []byte, members []Member) []byte {
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendQuoted(b, m.Key), ':')
		b = m.Value.AppendJSON(b)
	}
	return append(b, '}')
}

// AppendQuoted writes a string that is valid in JSON and, double-quoted, in YAML.
func AppendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < ' ', r >= 0x7f && r <= 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			b = append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// Any returns the node as encoding/json would decode it, numbers as json.Number.
func (n *Node) Any() any {
	switch n.Kind {
	case Boolean:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case Text:
		return n.Text
	case Array:
		list := make([]any, len(n.Items))
		for i, v := range n.Items {
			list[i] = v.Any()
		}
		return list
	case Object:
		m := make(map[string]any, len(n.Members))
		for _, mb := range n.Members {
			m[mb.Key] = mb.Value.Any()
		}
		return m
	}
	return nil
}

// Measure sets Weight and Depth from the children's.
func (n *Node) Measure() *Node {
	n.Weight, n.Depth = 1+len(n.Text), 0
	for _, v := range n.Items {
		n.Weight, n.Depth = n.Weight+v.Weight, max(n.Depth, v.Depth)
	}
	for _, m := range n.Members {
		n.Weight, n.Depth = n.Weight+len(m.Key)+m.Value.Weight, max(n.Depth, m.Value.Depth)
	}
	n.Weight, n.Depth = min(n.Weight, 1<<30), n.Depth+1
	return n
}

// List returns the members, none of a nil node.
func (n *Node) List() []Member {
	if n == nil {
		return nil
	}
	return n.Members
}

// Forget removes the positions and measures again.
func (n *Node) Forget() {
	n.Pos = Position{}
	for _, v := range n.Items {
		v.Forget()
	}
	for i := range n.Members {
		n.Members[i].Pos = Position{}
		n.Members[i].Value.Forget()
	}
	n.Measure()
}

// With returns an object with the value at the key: in its place, or as its first. Nodes
// are shared, so the object itself does not change.
func (n *Node) With(key string, value *Node) *Node {
	next := *n
	next.Members = slices.Clone(n.Members)
	for i := range next.Members {
		if next.Members[i].Key == key {
			next.Members[i].Value = value
			return next.Measure()
		}
	}
	next.Members = slices.Insert(next.Members, 0, Member{Key: key, Pos: n.Pos, Value: value})
	return next.Measure()
}
