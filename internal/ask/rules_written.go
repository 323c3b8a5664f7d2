package ask

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// isVerb reports whether a word begins a query: a verb in capitals.
func isVerb(word string) bool {
	return slices.Contains([]string{"LOOKUP", "FUZZY", "SEARCH", "TRAVERSE", "SQL", "SELECT", "WITH", "EXPLAIN", "REM"}, word)
}

// courtesy is what may come before a query that is written out.
const courtesy = "please can could would you just now run execute do this the query show me: query:"

// written returns the query that a question is or ends with: a verb in capitals, perhaps
// after words of courtesy.
func written(question string) (query string, ok bool) {
	rest := strings.TrimSpace(question)
	for rest != "" {
		word, after, _ := strings.Cut(rest, " ")
		switch {
		case isVerb(word):
			return rest, true
		case !slices.Contains(strings.Fields(courtesy), strings.ToLower(strings.TrimRight(word, ",:"))):
			return "", false
		}
		rest = strings.TrimSpace(after)
	}
	return "", false
}

// selected matches a SELECT in small letters on a table.
var selected = regexp.MustCompile(`(?i)^(?:sql\s+)?select\s.*\sfrom\s+([a-z_]+)\b`)

// spelt reads a query whose verb is not in capitals, which plain words may begin with, too.
func (r rules) spelt(ctx context.Context, question string) (proposal, error) {
	known := false
	q, err := r.engine.Parse(question)
	if err != nil {
		return proposal{}, nil //nolint:nilerr // plain words are no mistake
	}
	switch q := q.(type) {
	case rem.Fuzzy:
		known = true
	case rem.Select:
		m := selected.FindStringSubmatch(question)
		known = m != nil && slices.ContainsFunc(r.engine.Tables(), func(t store.TableInfo) bool { return strings.EqualFold(t.Name, m[1]) })
	case rem.Traverse:
		if q.With == nil {
			keys, err := r.keysIn(ctx, q.Keys)
			if err != nil {
				return proposal{}, err
			}
			known = len(keys) == len(q.Keys)
		}
	}
	if !known {
		return proposal{}, nil
	}
	return proposal{Query: q.String(), Confidence: exact}, nil
}

// quoted returns a quoted text, whatever its words.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
