package rem_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/rem"
)

// rules are the grammar; %d stand for the bounds.
const rules = `query    = ["REM"] ( lookup | fuzzy | search | traverse | sql | "EXPLAIN" query )
lookup   = "LOOKUP" keys
fuzzy    = "FUZZY" text { "FROM" "manual" | "THRESHOLD" number | limit | "LOAD" }
search   = "SEARCH" ( text | tables quoted ) { ("FROM"|"IN"|"TABLE") tables | "FIELD" column
           | "WHERE" quoted | "CATEGORY" word | "MIN_SIMILARITY" number | limit | "HYBRID" | "LOAD" }
traverse = "TRAVERSE" ( ["FROM"] keys { clause } | [names] { clause } "WITH" query { clause } )
clause   = "TYPE" names | "DIRECTION" ("in"|"out"|"both") | "DEPTH" 0…%d | limit | "LOAD" | "ORDER BY" field ["DESC"]
sql      = "SQL" select | select | "SQL" table { "WHERE" quoted | "ORDER BY" columns | limit }
limit    = "LIMIT" 1…%d (SQL: 1…%d)
tables   = table { "," table }
keys     = key { "," key } | "[" key { "," key } "]"`

const remarks = "Words may be in any case. A clause counts at the end of a query only, and only with a value that fits it; else it is text. " +
	"A quoted word is never a keyword: quote texts and keys that hold commas or end like a clause. " +
	"`name=value` stands for a clause: table (table_name), field (field_name), where (where_clause), category, threshold, min_similarity, " +
	"limit, depth (max_depth), type (rel_type, rel_types, edge_types), direction, order_by, load, hybrid. Of two the last counts. " +
	"CATEGORY, HYBRID, LOAD and the FROM of FUZZY at the end of a text count in capitals only."

// TestGrammar writes the page from the rules and the examples that the other
// tests parse, and holds Grammar to it.
func TestGrammar(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "```\n"+rules+"\n```\n\n%s\n\nDefaults: THRESHOLD %v, LIMIT %d (TRAVERSE %d, SQL %d), SEARCH in %s, DEPTH %d, DIRECTION out.\n",
		rem.MaxDepth, rem.MaxLimit, rem.MaxRows, remarks, rem.DefaultThreshold, rem.DefaultLimit, rem.DefaultNodes, rem.MaxRows, rem.DefaultTable, rem.DefaultDepth)
	file, err := os.ReadFile("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	shown := false
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "## "); ok {
			verb, text, _ := strings.Cut(head, ": ")
			fmt.Fprintf(&b, "\n- **%s**: %s\n", verb, text)
			shown = true
		} else if line == "" {
			shown = false
		} else if shown {
			query, _, _ := strings.Cut(line, " => ")
			fmt.Fprintf(&b, "  - `%s`\n", query)
		}
	}
	golden.Compare(t, "grammar.md", b.String())
	if !golden.Update() && rem.Grammar() != b.String() {
		t.Error("Grammar is not grammar.md")
	}
}
