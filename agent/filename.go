package agent

import (
	"path"
	"slices"
	"strings"
)

// maxName bounds a name, in bytes.
const maxName = 200

// takeName gives a document without a name that of its file.
func (r *report) takeName(d *Document) {
	name := nameOf(r.file)
	if name == "" || d.Name != "" || d.ShortName != "" || d.FullyQualifiedName != "" {
		return
	}
	value := &node{kind: text, text: name, pos: d.root.pos}
	d.Name, d.Unnamed = name, true
	if extra := d.root.get(extraKey); extra != nil && extra.kind == object {
		d.root = d.root.with(extraKey, extra.with("name", value.measure()))
		return
	}
	d.root = d.root.with("name", value.measure())
}

// nameOf returns the name of a document's file without its folder and its ending; "" for
// another file, and for one whose name has no letter or digit or is too long.
func nameOf(file string) string {
	file = file[strings.LastIndexAny(file, `/\`)+1:]
	ending := path.Ext(file)
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(ending)) {
		return ""
	}
	name := strings.TrimSuffix(file, ending)
	if !simpleName.MatchString(name) || strings.Contains(name, "..") {
		name = Kebab(name)
	}
	if len(name) > maxName {
		return ""
	}
	return name
}

// with returns an object with the value at the key: in its place, or as its first. Nodes
// are shared, so the object itself does not change.
func (n *node) with(key string, value *node) *node {
	next := *n
	next.members = slices.Clone(n.members)
	for i := range next.members {
		if next.members[i].key == key {
			next.members[i].value = value
			return next.measure()
		}
	}
	next.members = slices.Insert(next.members, 0, member{key: key, pos: n.pos, value: value})
	return next.measure()
}
