package rem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"p8/store"
)

// Knowledge is what the dialect needs of a store. Every method sees what the
// caller in the context may see, the caller's own rows before shared ones.
type Knowledge interface {
	// Lookup is every row with this key, none if there is none.
	Lookup(ctx context.Context, key string) ([]store.Match, error)
	// Fuzzy is the rows whose keys resemble the text, the best first.
	Fuzzy(ctx context.Context, text string, threshold float64, limit int) ([]store.Match, error)
	// MessageBySeq is a stored message; store.ErrNotFound if there is none.
	MessageBySeq(ctx context.Context, sessionID string, seq int64) (store.Message, error)
}

// Result is the answer to a query.
type Result struct {
	QueryType Verb `json:"query_type"`
	// Keys are the keys of a LOOKUP, Missing those of them that nothing has.
	Keys    []string `json:"keys,omitempty"`
	Missing []string `json:"missing,omitempty"`
	// Text is the text of a FUZZY.
	Text    string `json:"text,omitempty"`
	Results []Row  `json:"results"`
	Count   int    `json:"count"`
}

// Row is one row that was found.
type Row struct {
	Key string `json:"key"`
	// EntityType is the kind of row: resource, schema, message, …
	EntityType string `json:"entity_type"`
	// Score is the similarity of a FUZZY match, 1 for a LOOKUP.
	Score   float64 `json:"similarity_score"`
	Summary string  `json:"summary,omitempty"`
	// Data is the row as JSON, for a LOOKUP.
	Data json.RawMessage `json:"data,omitempty"`
}

// EntityMessage is the entity type of a stored message.
const EntityMessage = "message"

// Execute answers a query. Keys that nothing has are no error.
func Execute(ctx context.Context, k Knowledge, query Query) (Result, error) {
	var res Result
	var err error
	switch q := query.(type) {
	case Lookup:
		res, err = lookup(ctx, k, q)
	case Fuzzy:
		res, err = fuzzy(ctx, k, q)
	default:
		return Result{}, fmt.Errorf("rem: cannot execute a %T", query)
	}
	if err != nil {
		return Result{}, fmt.Errorf("rem: %s: %w", query.Verb(), err)
	}
	res.QueryType, res.Count = query.Verb(), len(res.Results)
	return res, nil
}

func lookup(ctx context.Context, k Knowledge, q Lookup) (Result, error) {
	if len(q.Keys) > MaxKeys {
		return Result{}, fmt.Errorf("%d keys are more than %d", len(q.Keys), MaxKeys)
	}
	res := Result{Keys: q.Keys, Results: []Row{}}
	for _, key := range q.Keys {
		rows, err := lookupKey(ctx, k, key)
		if err != nil {
			return Result{}, err
		}
		if len(rows) == 0 {
			res.Missing = append(res.Missing, key)
		}
		res.Results = append(res.Results, rows...)
	}
	return res, nil
}

func lookupKey(ctx context.Context, k Knowledge, key string) ([]Row, error) {
	if sessionID, seq, ok := parseMessageKey(key); ok {
		message, err := k.MessageBySeq(ctx, sessionID, seq)
		switch {
		case err == nil:
			return messageRow(key, message)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	matches, err := k.Lookup(ctx, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return rowsOf(matches), nil
}

func messageRow(key string, message store.Message) ([]Row, error) {
	data, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	return []Row{{Key: key, EntityType: EntityMessage, Score: 1, Data: data}}, nil
}

func fuzzy(ctx context.Context, k Knowledge, q Fuzzy) (Result, error) {
	matches, err := k.Fuzzy(ctx, q.Text, q.Threshold, min(max(q.Limit, 1), MaxLimit))
	if err != nil {
		return Result{}, err
	}
	return Result{Text: q.Text, Results: rowsOf(matches)}, nil
}

func rowsOf(matches []store.Match) []Row {
	rows := make([]Row, len(matches))
	for i, m := range matches {
		rows[i] = Row{Key: m.Key, EntityType: m.Type, Score: m.Score, Summary: m.Summary, Data: m.Data}
	}
	return rows
}
