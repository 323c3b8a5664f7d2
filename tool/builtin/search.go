package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// plainThreshold is the least similarity for plain words. Sentences resemble a key
// less than names do (REMLight's).
const plainThreshold = 0.2

// maxQuery bounds the query that an error repeats, in characters.
const maxQuery = 240

// searchIn are the arguments of search.
type searchIn struct {
	Query string `json:"query" jsonschema:"LOOKUP key | FUZZY text | SEARCH text [FROM table, table] | TRAVERSE key [TYPE relation] [DIRECTION in|both] [DEPTH 1] | SQL SELECT … | plain words"`
	Limit int    `json:"limit" default:"20" minimum:"1" maximum:"100" jsonschema:"the most results, unless the query has a LIMIT"`
}

const searchDescription = `Finds what is stored: documents, people, moments, agents, and messages of the session. It takes one REM query.
LOOKUP key gives the whole row with that key; use it when you know the key, and for the keys of other results. LOOKUP [key1, key2] takes several.
FUZZY text finds keys and summaries that resemble the text; use it for a name that you do not know exactly. Plain words are a FUZZY.
SEARCH text [FROM resources|ontologies|moments|schemas] [WHERE "condition"] [LIMIT 10] finds texts of a similar meaning; use it for a subject. FROM resources, moments asks both.
TRAVERSE key [TYPE relation] [DIRECTION in|both] [DEPTH 1] gives what a row leads to, DIRECTION in what leads to the row; DEPTH 0 counts the edges.
SQL SELECT … FROM table gives rows by filter, date or count; one read-only SELECT.`

// NewSearch returns the search tool over an engine. With a nil engine it answers that
// nothing is stored.
//
// Its result is {"status":"success","query_type",…,"results","count"}, with
// these between, as the query has them (REMLight):
//
//	LOOKUP    key (a list for several), found
//	FUZZY     text
//	SEARCH    search_text, table (several with commas; then each result has its table)
//	TRAVERSE  entity_key (a list for several), depth, edge_summary for DEPTH 0
//	SQL       raw_query
//	EXPLAIN   plan
//
// and "missing", "suggestions", "truncated" and "notes" where there is something
// to say. A query that cannot be understood fails with
// {"status":"error","error","query"}, whose error shows the right form.
func NewSearch(e *rem.Engine) (tool.Tool, error) {
	t, err := tool.New("search", searchDescription, func(ctx context.Context, in searchIn) (any, error) {
		if e == nil {
			return searchFailed(in.Query, "nothing is stored in this configuration, so there is nothing to search")
		}
		found, err := runSearch(ctx, e, in)
		switch {
		case err == nil:
			content, err := tool.Encode(answerOf(found))
			return tool.Result{Content: content, Sources: sourcesOf(found)}, err
		case fitForModel(err):
			return searchFailed(in.Query, err.Error())
		}
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	return tool.Annotate(t, tool.Annotations{Title: "Search the knowledge base", ReadOnly: true, Output: json.RawMessage(searchOutput)})
}

// searchOutput is written by hand: a row of SQL is any object.
const searchOutput = `{
	"type": "object",
	"properties": {
		"status": {"enum": ["success", "error"]},
		"error": {"type": "string"},
		"query": {"type": "string", "description": "the query that failed"},
		"query_type": {"enum": ["LOOKUP", "FUZZY", "SEARCH", "TRAVERSE", "SQL", "EXPLAIN"]},
		"key": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
		"entity_key": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
		"depth": {"type": "integer"},
		"text": {"type": "string"},
		"search_text": {"type": "string"},
		"table": {"type": "string"},
		"raw_query": {"type": "string"},
		"found": {"type": "boolean"},
		"results": {"type": "array", "items": {"type": "object"}},
		"count": {"type": "integer"},
		"edge_summary": {"type": "array", "items": {"type": "object"}},
		"missing": {"type": "array", "items": {"type": "string"}},
		"suggestions": {"type": "array", "items": {"type": "string"}},
		"truncated": {"type": "boolean"},
		"notes": {"type": "array", "items": {"type": "string"}},
		"plan": {"type": "object"}
	},
	"required": ["status"],
	"additionalProperties": false
}`

// fitForModel reports whether an error is about the query.
func fitForModel(err error) bool {
	var syntax *rem.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, rem.ErrTimeout) || errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrBusy)
}

// runSearch runs the query. Words without a verb are searched as a name, perhaps
// misspelt, and then as a subject.
func runSearch(ctx context.Context, e *rem.Engine, in searchIn) (rem.Result, error) {
	found, err := e.RunLimited(ctx, in.Query, in.Limit)
	if !errors.Is(err, rem.ErrNoVerb) {
		return found, err
	}
	words := []rune(strings.Join(strings.Fields(in.Query), " "))
	text := string(words[:min(len(words), rem.MaxText)])
	found, err = e.Execute(ctx, rem.WithLimit(rem.Fuzzy{Text: text, Threshold: plainThreshold}, in.Limit))
	if err != nil || found.Count > 0 {
		return found, err
	}
	return e.Execute(ctx, rem.WithLimit(rem.Search{Text: text, Hybrid: true}, in.Limit))
}

// searchAnswer is the result for the model.
type searchAnswer struct {
	Status      string            `json:"status"`
	QueryType   rem.Verb          `json:"query_type"`
	Key         any               `json:"key,omitempty"`
	EntityKey   any               `json:"entity_key,omitempty"`
	Depth       *int              `json:"depth,omitempty"`
	Text        string            `json:"text,omitempty"`
	SearchText  string            `json:"search_text,omitempty"`
	Table       string            `json:"table,omitempty"`
	RawQuery    string            `json:"raw_query,omitempty"`
	Found       *bool             `json:"found,omitempty"`
	Results     []rem.Row         `json:"results"`
	Count       int               `json:"count"`
	EdgeSummary []rem.EdgeSummary `json:"edge_summary,omitempty"`
	Missing     []string          `json:"missing,omitempty"`
	// Suggestions are keys similar to the missing ones.
	Suggestions []string  `json:"suggestions,omitempty"`
	Truncated   bool      `json:"truncated,omitempty"`
	Notes       []string  `json:"notes,omitempty"`
	Plan        *rem.Plan `json:"plan,omitempty"`
}

func answerOf(found rem.Result) searchAnswer {
	a := searchAnswer{
		Status: "success", QueryType: found.QueryType, Depth: found.Depth, Table: found.Table, RawQuery: found.RawQuery,
		EdgeSummary: found.EdgeSummary, Suggestions: found.Suggestions, Truncated: found.Truncated, Notes: found.Notes, Plan: found.Plan,
	}
	switch found.QueryType {
	case rem.LOOKUP:
		a.Found, a.Key = new(found.Count > 0), oneOrAll(found.Keys)
		if len(found.Keys) > 1 {
			a.Missing = found.Missing
		}
	case rem.TRAVERSE:
		a.EntityKey, a.Missing = oneOrAll(found.Keys), found.Missing
	case rem.SEARCH:
		a.SearchText = found.Text
	case rem.FUZZY:
		a.Text = found.Text
	}
	whole := found.QueryType == rem.LOOKUP && len(found.Keys) == 1
	var note string
	if a.Results, note = trim(found.Results, whole, hintFor(found.QueryType)); note != "" {
		a.Truncated, a.Notes = true, append(a.Notes, note)
	}
	a.Count = len(a.Results)
	return a
}

// oneOrAll returns the only key, or the list of them; nil for none.
func oneOrAll(keys []string) any {
	switch len(keys) {
	case 0:
		return nil
	case 1:
		return keys[0]
	}
	return keys
}

func searchFailed(query, problem string) (any, error) {
	content, err := tool.Encode(struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Query  string `json:"query"`
	}{"error", problem, tool.Cut(query, maxQuery)})
	return tool.Result{Content: content, Failed: true}, err
}
