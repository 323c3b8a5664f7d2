package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
	"github.com/p8-org/p8/store"
)

// frontMatter is the front matter of a Markdown file.
type frontMatter struct {
	name, category, uri string
	tags                []string
	edges               []store.Edge
	// metadata has all other keys, such as title and description.
	metadata map[string]json.RawMessage
}

// readFront parses front matter. ok is false if the text between the rules is not a
// mapping: then it belongs to the page.
func readFront(file, src string) (f frontMatter, ok bool, err error) {
	const firstLine = 2
	root, err := parseYAML(file, src, firstLine)
	if err != nil || root == nil {
		return f, err == nil, err
	}
	list, ok := members(root)
	if !ok {
		return f, false, nil
	}
	f.metadata = map[string]json.RawMessage{}
	for _, m := range list {
		raw, err := toJSON(file, m.value, firstLine)
		if err != nil {
			return f, true, err
		}
		text := func(into *string) error {
			if string(raw) == "null" || json.Unmarshal(raw, into) == nil {
				*into = strings.TrimSpace(*into)
				return nil
			}
			return at(file, m.value.GetToken(), firstLine, m.key+" must be a text")
		}
		switch m.key {
		case "name", "entity_key":
			err = text(&f.name)
			if err == nil && f.name != "" && store.NormalizeKey(f.name) == "" {
				err = at(file, m.value.GetToken(), firstLine, m.key+" must have a letter or a digit")
			}
		case "category":
			err = text(&f.category)
		case "uri":
			err = text(&f.uri)
		case "tags":
			var words string
			switch {
			case json.Unmarshal(raw, &f.tags) == nil:
			case json.Unmarshal(raw, &words) == nil:
				f.tags = splitTags(words)
			default:
				err = at(file, m.value.GetToken(), firstLine, "tags must be a list of texts")
			}
		case "edges", "graph_edges":
			var edges []store.Edge
			edges, err = readEdges(file, m.value, firstLine)
			f.edges = append(f.edges, edges...)
		default:
			f.metadata[m.key] = raw
		}
		if err == nil {
			err = f.check(file, m, firstLine)
		}
		if err != nil {
			return f, true, err
		}
	}
	return f, true, nil
}

// Bounds of what every piece of the document repeats; the lengths are in characters.
const (
	maxCategory = 200
	maxTag      = 200
	maxTags     = 100
)

// check refuses a category or tags, the values of m, that are too long to be repeated.
func (f *frontMatter) check(file string, m member, line int) error {
	what := ""
	switch {
	case m.key == "category" && utf8.RuneCountInString(f.category) > maxCategory:
		what = fmt.Sprintf("category is longer than %d characters", maxCategory)
	case m.key == "tags" && len(f.tags) > maxTags:
		what = fmt.Sprintf("there are more than %d tags", maxTags)
	case m.key == "tags" && slices.ContainsFunc(f.tags, func(tag string) bool { return utf8.RuneCountInString(tag) > maxTag }):
		what = fmt.Sprintf("a tag is longer than %d characters", maxTag)
	default:
		return nil
	}
	return at(file, m.value.GetToken(), line, what)
}

// splitTags splits tags at commas.
func splitTags(s string) []string {
	var tags []string
	for tag := range strings.SplitSeq(s, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// readEdges parses a list of edges: {target, relation, weight, reason}, or only a target.
// dst means target; rel_type and type mean relation.
func readEdges(file string, n ast.Node, line int) ([]store.Edge, error) {
	if _, null := n.(*ast.NullNode); null {
		return nil, nil
	}
	list, ok := elements(n)
	if !ok {
		return nil, at(file, n.GetToken(), line, "edges must be a list such as [{target: project-alpha, relation: works_on}]")
	}
	var edges []store.Edge
	for _, item := range list {
		e := store.Edge{Relation: "related", Weight: 1}
		fields, ok := members(item)
		if !ok {
			fields = []member{{"target", item.GetToken(), item}}
		}
		for _, m := range fields {
			raw, err := toJSON(file, m.value, line)
			if err != nil {
				return nil, err
			}
			var into any
			switch m.key {
			case "target", "dst":
				into = &e.Target
			case "relation", "rel_type", "type":
				into = &e.Relation
			case "weight":
				into = &e.Weight
			case "reason":
				into = &e.Reason
			default:
				return nil, at(file, m.token, line, "an edge has target, relation, weight and reason, not "+m.key)
			}
			if json.Unmarshal(raw, into) != nil {
				return nil, at(file, m.value.GetToken(), line, "this is no "+m.key+" of an edge")
			}
		}
		if store.NormalizeKey(e.Target) == "" {
			return nil, at(file, item.GetToken(), line, "this edge has no target")
		}
		edges = append(edges, e)
	}
	return edges, nil
}

// title is the page's title as each of its chunks repeats it, "" for none.
func (f *frontMatter) title() string {
	var title string
	// A number or a list is not a title.
	_ = json.Unmarshal(f.metadata["title"], &title)
	return chunk.CutTitle(title)
}
