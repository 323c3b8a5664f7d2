package tree

import (
	"strconv"
	"strings"
)

// Child follows one element of a JSON pointer.
func Child(pointer, key string) string {
	for i := range len(key) {
		if key[i] == '~' || key[i] == '/' {
			return pointer + "/" + escapePointer(key)
		}
	}
	return pointer + "/" + key
}

// Element follows an index of a list.
func Element(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// Resolve returns the target of a local reference, nil if the reference leads nowhere.
func (n *Node) Resolve(ref string) *Node {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil
	}
	for _, key := range strings.Split(path, "/")[1:] {
		n = n.Step(strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	return n
}

// Step follows one element of a JSON pointer; nil if it leads nowhere.
func (n *Node) Step(key string) *Node {
	if n != nil && n.Kind == Array {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Items) {
			return n.Items[i]
		}
		return nil
	}
	return n.Get(key)
}

// Follow goes down a path as far as it exists, and returns the node and its pointer.
func (n *Node) Follow(path []string) (at *Node, pointer string) {
	at = n
	for _, key := range path {
		if next := at.Step(key); next != nil {
			at, pointer = next, Child(pointer, key)
		}
	}
	return at, pointer
}

func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
