package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// Entry is a document in a list.
type Entry struct {
	// Name is the first of Names, all that the document answers to.
	Name        string   `json:"name"`
	Names       []string `json:"names"`
	Kind        string   `json:"kind"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	// Origin is Person, Builtin or File.
	Origin string `json:"origin,omitempty"`
	// Format is the kind of another program's file, such as "claude-code".
	Format string `json:"format,omitempty"`
	// Problems are why the document cannot be used.
	Problems agent.Problems `json:"problems,omitempty"`
	// Newer are the problems of a newer text of its file. Until they are mended the document
	// is used as it was.
	Newer agent.Problems `json:"newer,omitempty"`
}

// List returns the documents that the caller may use, by name; kind selects ("" is all).
// Of several with one name it has the one that a run would use. With kind "" it includes
// the folder's invalid documents, which have no kind.
func (c *Catalog) List(ctx context.Context, kind string) ([]Entry, error) {
	var list []Entry
	taken := map[string]bool{}
	add := func(e Entry) {
		if !taken[e.Name] && (kind == "" || kind == e.Kind) {
			list = append(list, e)
		}
		taken[e.Name] = true
	}
	for _, s := range c.given.all() {
		add(c.entry(s))
	}
	err := c.eachRow(ctx, func(row *store.Schema) bool {
		add(Entry{
			Name: row.Name, Names: unique(c.ownNames(row, rowNames(row))), Kind: row.Kind, Version: row.Version,
			Description: row.Description, Origin: Person,
		})
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, s := range c.sources() {
		add(c.entry(s))
	}
	arrange.By(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// entry describes a document of a file.
func (c *Catalog) entry(s *source) Entry {
	a, err := c.compile(s)
	if err != nil {
		return Entry{Name: s.name(), Names: s.names, Origin: s.origin, Problems: problems(s.file, err)}
	}
	d := a.Document
	return Entry{
		Name: s.name(), Names: s.names, Kind: d.Is(), Version: d.Version,
		Description: d.Summary(), Origin: s.origin, Format: s.format, Newer: c.folder.newer(s),
	}
}

// sources returns the given document, the built-in ones and those of the folder, each under
// its first name once.
func (c *Catalog) sources() []*source {
	all := slices.Concat(c.given.all(), c.builtin.sources, c.folder.all())
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(s *source) bool {
		twice := seen[s.name()]
		seen[s.name()] = true
		return twice
	})
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
