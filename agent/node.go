package agent

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// kind is the JSON type of a node.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

var kindNames = [...]string{
	null: "null", boolean: "a boolean", number: "a number",
	text: "a string", array: "a list", object: "a mapping",
}

func (k kind) String() string { return kindNames[k] }

// node is a JSON value with the order of its keys and its position. A document's
// tree never changes once it is read, so nodes may be shared (a YAML alias is the
// node of its anchor).
type node struct {
	kind kind
	// text is a string's value, a number's JSON literal, "true" or "false".
	text    string
	items   []*node
	members []member
	pos     position
	// weight counts the nodes and bytes of the value when written out, depth its
	// levels. They bound alias bombs.
	weight, depth int
}

type member struct {
	key   string
	pos   position
	value *node
}

// position is a line and column in the source, from 1; the zero value is unknown.
type position struct{ line, column int32 }

// get returns the value of a key, nil if absent.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// str returns the value of a string, "" for anything else.
func (n *node) str() string {
	if n == nil || n.kind != text {
		return ""
	}
	return n.text
}

// MarshalJSON writes the value compactly, keys in their order.
func (n *node) MarshalJSON() ([]byte, error) { return n.appendJSON(nil), nil }

func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case boolean, number:
		return append(b, n.text...)
	case text:
		return appendQuoted(b, n.text)
	case array:
		b = append(b, '[')
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.appendJSON(b)
		}
		return append(b, ']')
	case object:
		return appendMembers(b, n.members)
	}
	return append(b, "null"...)
}

func appendMembers(b []byte, members []member) []byte {
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, m.key), ':')
		b = m.value.appendJSON(b)
	}
	return append(b, '}')
}

// appendQuoted writes a string that is valid in JSON and, double-quoted, in YAML.
func appendQuoted(b []byte, s string) []byte {
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

// value returns the node as encoding/json would decode it, numbers as json.Number.
func (n *node) value() any {
	switch n.kind {
	case boolean:
		return n.text == "true"
	case number:
		return json.Number(n.text)
	case text:
		return n.text
	case array:
		list := make([]any, len(n.items))
		for i, v := range n.items {
			list[i] = v.value()
		}
		return list
	case object:
		m := make(map[string]any, len(n.members))
		for _, mb := range n.members {
			m[mb.key] = mb.value.value()
		}
		return m
	}
	return nil
}

// measure sets weight and depth from the children's.
func (n *node) measure() *node {
	n.weight, n.depth = 1+len(n.text), 0
	for _, v := range n.items {
		n.weight, n.depth = n.weight+v.weight, max(n.depth, v.depth)
	}
	for _, m := range n.members {
		n.weight, n.depth = n.weight+len(m.key)+m.value.weight, max(n.depth, m.value.depth)
	}
	n.weight, n.depth = min(n.weight, 1<<30), n.depth+1
	return n
}

// child follows one element of a JSON pointer.
func child(pointer, key string) string {
	for i := range len(key) {
		if key[i] == '~' || key[i] == '/' {
			return pointer + "/" + escapePointer(key)
		}
	}
	return pointer + "/" + key
}

func element(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
