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
	value := &node{Kind: text, Text: name, Pos: d.root.Pos}
	d.Name, d.Unnamed = name, true
	if extra := d.root.Get(extraKey); extra != nil && extra.Kind == object {
		d.root = d.root.With(extraKey, extra.With("name", value.Measure()))
		return
	}
	d.root = d.root.With("name", value.Measure())
}

// nameOf returns the name of a document's file without its folder and its ending; "" for
// another file, and for one whose name has no letter or digit or is too long.
func nameOf(file string) string {
	file = file[strings.LastIndexAny(file, `/\`)+1:]
	ending := path.Ext(file)
	if !slices.Contains([]string{".yaml", ".yml", ".json", ".md"}, strings.ToLower(ending)) {
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
