// Package rem is the REM dialect, in which agents and people query the store.
//
//	LOOKUP sarah-chen                        the row with this key, of whatever kind
//	FUZZY sara chn THRESHOLD 0.4             rows whose keys or summaries resemble a text
//	SEARCH "API design" FROM ontologies      rows whose meaning is near to a text
//	SEARCH burnout FROM resources, moments   the same, of several tables
//	TRAVERSE sarah-chen TYPE manages DEPTH 2 the rows that a row's edges lead to
//	SQL SELECT name FROM moments             one read-only SELECT
//	EXPLAIN SEARCH "API design"              what would run, on which index, within which bound
//
// [Parse] makes a [Query] of a text; each verb has a Go type. An [Engine] answers it from
// a [Knowledge], the few methods of the store that the dialect needs. The store limits
// the caller in the context to its own rows and shared ones. [Grammar] is the dialect on
// a page, for prompts and docs.
//
// Models and people write queries, so natural words never break one: apostrophes need no
// quotes, a clause counts only at the end and only with a value that fits it, and a quoted
// word is never a keyword. For a text that is no query, Parse returns a [SyntaxError] with
// the place and the right form.
package rem

import (
	"strings"

	"github.com/p8-org/p8/store"
)

// Verb is the kind of a query.
type Verb string

// The verbs of the dialect.
const (
	LOOKUP   Verb = "LOOKUP"
	FUZZY    Verb = "FUZZY"
	SEARCH   Verb = "SEARCH"
	TRAVERSE Verb = "TRAVERSE"
	SQL      Verb = "SQL"
	EXPLAIN  Verb = "EXPLAIN"
)

// Query is one parsed query: a [Lookup], [Fuzzy], [Search], [Traverse],
// [Select] or [Explain].
type Query interface {
	Verb() Verb
	// String is the query in its canonical form; Parse reads it back.
	String() string
}

// The bounds of a query.
const (
	// MaxQuery is the longest text that is parsed, in bytes.
	MaxQuery = 8192
	// MaxKeys is the most keys of one LOOKUP or TRAVERSE.
	MaxKeys = 20
	// MaxText is the longest key or search text, in characters.
	MaxText = 512
	// MaxLimit is the most rows of one answer, except for SQL.
	MaxLimit = 100
	// MaxRows is the most rows of one SQL answer.
	MaxRows = 1000
	// MaxDepth is how far TRAVERSE goes.
	MaxDepth = 5
	// maxTypes is the most relations that a TRAVERSE can name.
	maxTypes = 20
)

// The defaults of a query (REMLight).
const (
	DefaultThreshold = store.DefaultThreshold
	DefaultLimit     = store.DefaultLimit
	DefaultTable     = "resources"
	DefaultDepth     = 1
	// Manual is the table of p8's manual.
	Manual = store.ManualTable
	// DefaultNodes is the LIMIT of TRAVERSE. The limits of REM, REMLight and p8: none, 9 and 10.
	DefaultNodes = 20
)

// Tables returns the names of the tables that every store has.
func Tables() []string {
	return []string{"schemas", "resources", "ontologies", "moments", "sessions", "messages", "users", "files", "feedback", Manual}
}

// singular returns the name of one row of a table.
func singular(table string) string {
	if s, ok := strings.CutSuffix(table, "ies"); ok {
		return s + "y"
	}
	return strings.TrimSuffix(table, "s")
}
