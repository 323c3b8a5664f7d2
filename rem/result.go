package rem

import (
	"bytes"
	"encoding/json"

	"github.com/p8-org/p8/store"
)

// Result is the answer to a query.
type Result struct {
	QueryType Verb `json:"query_type"`
	// Keys are the keys of a LOOKUP, or those from which a TRAVERSE starts. Missing are the keys
	// that no row has, Suggestions the existing keys that resemble them.
	Keys        []string `json:"keys,omitempty"`
	Missing     []string `json:"missing,omitempty"`
	Suggestions []string `json:"suggestions,omitempty"`
	// Text is that of a FUZZY or SEARCH, Table the table of a SEARCH, or several with commas.
	Text  string `json:"text,omitempty"`
	Table string `json:"table,omitempty"`
	// Depth is the DEPTH of a TRAVERSE, nil for other queries.
	Depth *int `json:"depth,omitempty"`
	// RawQuery is the SQL that ran.
	RawQuery string `json:"raw_query,omitempty"`
	Results  []Row  `json:"results"`
	Count    int    `json:"count"`
	// EdgeSummary is the answer of a TRAVERSE with DEPTH 0.
	EdgeSummary []EdgeSummary `json:"edge_summary,omitempty"`
	// Truncated is true if a bound left something out.
	Truncated bool `json:"truncated,omitempty"`
	// Notes explain the results, one sentence each.
	Notes []string `json:"notes,omitempty"`
	// Plan is the answer to an EXPLAIN.
	Plan *Plan `json:"plan,omitempty"`
	// Selection is the answer to SQL with its columns and typed values; Results
	// hold the same as objects.
	Selection *store.Selection `json:"-"`
}

func (r *Result) note(text string) { r.Notes = append(r.Notes, text) }

// Row is one row that was found. One of SQL has only Data, and is that object in
// JSON.
type Row struct {
	Key string
	// EntityType is the kind of row: resource, schema, message, …
	EntityType string
	// Table is the table of a row that a SEARCH in several found.
	Table string
	// Score is the similarity of a FUZZY or SEARCH match, 1 for a LOOKUP.
	Score float64
	// Hop is how a TRAVERSE came to the row, nil for other queries.
	*Hop
	Summary string
	// Data is the row as JSON, if the query asks for it.
	Data json.RawMessage
}

// Hop is a step of a TRAVERSE.
type Hop struct {
	// Depth counts the edges from the start, which has 0.
	Depth int `json:"depth"`
	// Relation and Weight are those of the edge that led to the row.
	Relation string `json:"relation,omitempty"`
	// Direction is In if the row has the edge, Out if the edge points to it.
	Direction Direction `json:"direction,omitempty"`
	Weight    float64   `json:"weight"`
	// Path are the keys from the start to the row.
	Path []string `json:"path"`
}

// EdgeSummary is the edges of one relation.
type EdgeSummary struct {
	Relation string `json:"relation"`
	// Direction is In for edges that point to the rows.
	Direction Direction `json:"direction,omitempty"`
	Count     int       `json:"count"`
	// Targets are the keys at their other ends, the heaviest first, at most 10.
	Targets []string `json:"targets"`
}

// EntityMessage is the entity type of a stored message.
const EntityMessage = "message"

// MarshalJSON writes {key, entity_type, table, similarity_score, summary, data}, with
// {depth, relation, weight, path} in place of the score for a TRAVERSE, and the
// bare object for SQL.
func (r Row) MarshalJSON() ([]byte, error) {
	type tail struct {
		Summary string          `json:"summary,omitempty"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	type head struct {
		Key        string `json:"key"`
		EntityType string `json:"entity_type"`
		Table      string `json:"table,omitempty"`
	}
	switch {
	case r.Hop != nil:
		return marshal(struct {
			head
			*Hop
			tail
		}{head{r.Key, r.EntityType, r.Table}, r.Hop, tail{r.Summary, r.Data}})
	case r.EntityType == "" && r.Data != nil:
		return r.Data, nil
	}
	return marshal(struct {
		head
		Score float64 `json:"similarity_score"`
		tail
	}{head{r.Key, r.EntityType, r.Table}, r.Score, tail{r.Summary, r.Data}})
}

// marshal writes <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

func rowsOf(matches []store.Match) []Row {
	rows := make([]Row, len(matches))
	for i, m := range matches {
		rows[i] = Row{Key: m.Key, EntityType: m.Type, Score: m.Score, Summary: m.Summary, Data: m.Data}
	}
	return rows
}
