package rem

import (
	"strconv"
	"strings"
	"unicode"
)

// Lookup finds rows by their keys, whole.
type Lookup struct {
	// Keys are 1 to MaxKeys different keys, in the order of the query.
	Keys []string
}

// Verb returns LOOKUP.
func (Lookup) Verb() Verb { return LOOKUP }

// String returns the query in its canonical form.
func (q Lookup) String() string {
	quoted := make([]string, len(q.Keys))
	for i, key := range q.Keys {
		quoted[i] = Quote(key)
	}
	return "LOOKUP " + strings.Join(quoted, ", ")
}

// Fuzzy finds rows whose keys or summaries resemble a text.
type Fuzzy struct {
	Text string
	// Threshold is the least similarity, above 0 and up to 1; 0 is
	// DefaultThreshold.
	Threshold float64
	// Limit is the most rows, 1 to MaxLimit; 0 is DefaultLimit.
	Limit int
	// Load adds the whole rows.
	Load bool
	// Manual reads p8's manual instead of the caller's rows.
	Manual bool
}

// NewFuzzy returns a query with the default threshold and limit.
func NewFuzzy(text string) Fuzzy { return Fuzzy{Text: text} }

// Verb returns FUZZY.
func (Fuzzy) Verb() Verb { return FUZZY }

// String returns the query in its canonical form.
func (q Fuzzy) String() string {
	w := writer{"FUZZY " + quote(q.Text)}
	if q.Manual {
		w.word("FROM", Manual)
	}
	w.number("THRESHOLD", q.Threshold)
	w.number("LIMIT", float64(q.Limit))
	w.flag("LOAD", q.Load)
	return w.text
}

// Search finds the rows whose meaning is near to a text, or whose title the text names.
type Search struct {
	Text string
	// Tables are searched together, and their rows merged by score. If it is empty,
	// DefaultTable is searched.
	Tables []string
	// Field is the embedded column, "" for the tables' own.
	Field string
	// Where is a condition in SQL on the rows, Category the value of that column.
	Where, Category string
	// MinSimilarity is the least cosine similarity, 0 to 1; nil is that of the
	// engine.
	MinSimilarity *float64
	// Limit is the most rows, 1 to MaxLimit; 0 is DefaultLimit.
	Limit int
	// Hybrid ranks by the words of the text too.
	Hybrid bool
	// Load leaves the rows whole.
	Load bool
}

// Verb returns SEARCH.
func (Search) Verb() Verb { return SEARCH }

// String returns the query in its canonical form.
func (q Search) String() string {
	w := writer{"SEARCH " + quote(q.Text)}
	w.word("FROM", strings.Join(q.Tables, tableComma))
	// A text that a clause would take is written as a parameter.
	if isEmbedded(q.Field) {
		w.word("FIELD", q.Field)
	} else if q.Field != "" {
		w.text += " field=" + q.Field
	}
	if looksLikeCondition.MatchString(q.Where) {
		w.quoted("WHERE", q.Where)
	} else if q.Where != "" {
		w.text += " where=" + quote(q.Where)
	}
	w.quoted("CATEGORY", q.Category)
	if q.MinSimilarity != nil {
		w.word("MIN_SIMILARITY", formatFloat(*q.MinSimilarity))
	}
	w.number("LIMIT", float64(q.Limit))
	w.flag("HYBRID", q.Hybrid)
	w.flag("LOAD", q.Load)
	return w.text
}

// Traverse walks along the edges of rows, breadth first.
type Traverse struct {
	// Keys are where it starts: 1 to MaxKeys, unless With finds them.
	Keys []string
	// With is a query whose results are the start; not an Explain, and no
	// Traverse with a With of its own.
	With Query
	// Types are the relations to follow, none for all. Case and the kind of
	// dashes do not matter.
	Types []string
	// Direction is In or Both; "" is Out.
	Direction Direction
	// Depth is the number of hops, 1 to MaxDepth; 0 is DefaultDepth.
	Depth int
	// Plan is DEPTH 0: the edges of the start are summarised and none followed.
	Plan bool
	// Limit is the most rows, the start among them, 1 to MaxLimit; 0 is
	// DefaultNodes.
	Limit int
	// Load adds the whole rows.
	Load bool
	// Order is how the rows that were found are sorted, nearest first by default.
	Order Order
}

// Direction is how a Traverse follows edges.
type Direction string

// The directions: from the row that has an edge to its target, back, or both ways.
const (
	Out  Direction = ""
	In   Direction = "in"
	Both Direction = "both"
)

// Order sorts rows by one field.
type Order struct {
	// Field is one of depth, weight, key, relation, entity_type and created_at;
	// "" is nearest first. Edges have no time, so created_at changes nothing (REM).
	Field string
	Desc  bool
}

// Verb returns TRAVERSE.
func (Traverse) Verb() Verb { return TRAVERSE }

// String returns the query in its canonical form. It always has a clause before the WITH, so
// that the clauses after the WITH belong to the inner query.
func (q Traverse) String() string {
	w := writer{"TRAVERSE"}
	w.list("", q.Keys)
	types := q.Types
	if q.With != nil && len(types) == 0 {
		types = []string{anyType}
	}
	w.list("TYPE", types)
	w.word("DIRECTION", string(q.Direction))
	if q.Plan {
		w.word("DEPTH", "0")
	} else {
		w.number("DEPTH", float64(q.Depth))
	}
	w.number("LIMIT", float64(q.Limit))
	w.flag("LOAD", q.Load)
	w.word("ORDER BY", q.Order.Field)
	w.flag("DESC", q.Order.Desc)
	if q.With != nil {
		w.word("WITH", q.With.String())
	}
	return w.text
}

// Select is one SELECT in the store's SQL; the store checks it.
type Select struct {
	Text string
	// Rows is the most rows, 0 for MaxRows. It is not part of the text.
	Rows int
}

// Verb returns SQL.
func (Select) Verb() Verb { return SQL }

// String returns the query in its canonical form.
func (q Select) String() string { return "SQL " + q.Text }

// Explain asks for the plan of a query.
type Explain struct {
	// Query is any but another Explain.
	Query Query
}

// Verb returns EXPLAIN.
func (Explain) Verb() Verb { return EXPLAIN }

// String returns the query in its canonical form.
func (q Explain) String() string { return "EXPLAIN " + q.Query.String() }

// WithLimit returns the query with a limit of n rows, unless it has a limit of its own.
func WithLimit(query Query, n int) Query {
	n = min(max(n, 1), MaxLimit)
	switch q := query.(type) {
	case Fuzzy:
		if q.Limit == 0 {
			q.Limit = n
		}
		return q
	case Search:
		if q.Limit == 0 {
			q.Limit = n
		}
		return q
	case Traverse:
		if q.Limit == 0 {
			q.Limit = n
		}
		return q
	case Select:
		if q.Rows == 0 && !hasLimit(q.Text) {
			q.Rows = n
		}
		return q
	}
	return query
}

// Quote returns a key as LOOKUP takes it, in quotes if necessary.
func Quote(key string) string {
	if key == "" || strings.Join(strings.Fields(key), " ") != key ||
		strings.ContainsAny(key, `,"`) || strings.ContainsAny(key[:1], `'[`) || strings.Contains(key, " '") {
		return quote(key)
	}
	return key
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// tableComma separates the tables of a SEARCH.
const tableComma = ", "

// anyType stands for every relation.
const anyType = "*"

// writer writes the clauses that have a value.
type writer struct{ text string }

func (w *writer) word(name, value string) {
	if value != "" {
		w.text += " " + name + " " + value
	}
}

func (w *writer) quoted(name, value string) {
	if value != "" {
		w.word(name, quote(value))
	}
}

func (w *writer) number(name string, value float64) {
	if value != 0 {
		w.word(name, formatFloat(value))
	}
}

func (w *writer) flag(name string, value bool) {
	if value {
		w.text += " " + name
	}
}

// list writes plain words as they are.
func (w *writer) list(name string, values []string) {
	for i, value := range values {
		switch {
		case i > 0:
			w.text += ","
		case name != "":
			w.text += " " + name
		}
		if !plainWord(value) {
			value = quote(value)
		}
		w.text += " " + value
	}
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// plainWord reports whether a word is one token that no clause begins with.
func plainWord(s string) bool {
	if s == anyType {
		return true
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return s != "" && !isKeyword(s)
}
