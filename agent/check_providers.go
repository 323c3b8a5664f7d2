package agent

import (
	"strings"

	"github.com/p8-org/p8/internal/schema/fit"
	"github.com/p8-org/p8/internal/tree"
)

// CheckProviders warns of the parts of a structured agent's schema that schemas of
// OpenAI, Anthropic or Gemini do not have. Such a document works, because its answers are
// validated against the whole schema.
func (d *Document) CheckProviders() Problems {
	if !d.StructuredOutput {
		return nil
	}
	r := &report{file: d.report.file, lines: d.report.lines, count: map[Severity]int{}}
	for _, g := range fit.Check(d.outputSchema(false)) {
		at, pointer := d.root.Follow(g.Path)
		who := strings.Join(g.Providers, " and ")
		if n := len(g.Providers); n > 2 {
			who = strings.Join(g.Providers[:n-1], ", ") + " and " + g.Providers[n-1]
		}
		if next := at.Get(g.Keyword); next != nil && g.Kind != fit.Name {
			at, pointer = next, tree.Child(pointer, g.Keyword)
		}
		switch g.Kind {
		case fit.OpenItems:
			r.warnf(at.Pos, pointer, "add items, such as items: {type: object}",
				"the items of this array are not described: models of %s may answer with items of any kind", who)
		case fit.Dropped:
			r.warnf(at.Pos, pointer, "say it in the description, too",
				"schemas of %s have no %s: their models learn of it only when an answer is refused", who, g.Keyword)
		case fit.Described:
			r.warnf(at.Pos, pointer, "move it into a property",
				"schemas of %s have no %s at the root: their models read it in words", who, g.Keyword)
		case fit.Name:
			r.warnf(at.Pos, pointer, "use at most 64 letters, digits, dots, dashes and underscores",
				"schemas of %s have no field named %q: their models read it in words", who, clip(g.Keyword, 60))
		case fit.Cut:
			r.warnf(at.Pos, pointer, "write a smaller schema",
				"the schema is too large or too deep: models of %s do not see it from here on", who)
		}
	}
	r.list.sort()
	return r.list
}
