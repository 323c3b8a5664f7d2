package tool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"p8/rem"
)

// plainThreshold is the least similarity for plain words; whole sentences
// resemble a key less than a name does (REMLight's).
const plainThreshold = 0.2

// searchIn are the arguments of search.
type searchIn struct {
	Query string `json:"query" jsonschema:"LOOKUP key | LOOKUP [key1, key2] | FUZZY text [THRESHOLD 0.3] [LIMIT 10] | plain words"`
	Limit int    `json:"limit" default:"20" minimum:"1" maximum:"100" jsonschema:"the most results, unless the query has a LIMIT"`
}

const searchDescription = `Finds what is stored: documents, agents, people, and messages of the session.
LOOKUP key gives the whole row with that key; use it when you know the key, and for the keys of a FUZZY result.
FUZZY text finds keys that resemble the text and gives their summaries; use it when you do not know the key. Plain words are a FUZZY.`

// NewSearch is the search tool over a store; nil is a deployment that stores
// nothing, where search says so.
//
// Its result is {"status":"success","query_type","key" (a list for several
// keys),"found","results","count"} for LOOKUP, with "missing" and
// "suggestions" for keys that nothing has, and {"status":"success",
// "query_type","text","results","count"} for FUZZY. A query that cannot be
// understood fails with {"status":"error","error","query"}.
func NewSearch(k rem.Knowledge) (Tool, error) {
	return New("search", searchDescription, func(ctx context.Context, in searchIn) (any, error) {
		if k == nil {
			return searchFailed(in.Query, "nothing is stored in this configuration, so there is nothing to search")
		}
		query, err := parseSearch(in)
		if err != nil {
			return searchFailed(in.Query, err.Error())
		}
		found, err := rem.Execute(ctx, k, query)
		if err != nil {
			return nil, err
		}
		answer := searchAnswer{Status: "success", QueryType: found.QueryType, Text: found.Text, Results: found.Results, Count: found.Count}
		if found.QueryType == rem.LOOKUP {
			answer.Found = new(found.Count > 0)
			answer.Key = found.Keys
			if len(found.Keys) == 1 {
				answer.Key = found.Keys[0]
			} else {
				answer.Missing = found.Missing
			}
			if answer.Suggestions, err = suggest(ctx, k, found.Missing); err != nil {
				return nil, err
			}
		}
		trim(answer.Results, len(found.Keys) == 1)
		return answer, nil
	})
}

// searchAnswer is what the model reads.
type searchAnswer struct {
	Status    string    `json:"status"`
	QueryType rem.Verb  `json:"query_type"`
	Key       any       `json:"key,omitempty"`
	Text      string    `json:"text,omitempty"`
	Found     *bool     `json:"found,omitempty"`
	Results   []rem.Row `json:"results"`
	Count     int       `json:"count"`
	Missing   []string  `json:"missing,omitempty"`
	// Suggestions are keys that resemble the missing ones.
	Suggestions []string `json:"suggestions,omitempty"`
}

func searchFailed(query, problem string) (any, error) {
	content, err := encode(struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Query  string `json:"query"`
	}{"error", problem, cut(query, maxFailureLength)})
	return Result{Content: content, Failed: true}, err
}

// parseSearch reads the query; words without a verb are searched for as they
// are.
func parseSearch(in searchIn) (rem.Query, error) {
	limit := min(max(in.Limit, 1), rem.MaxLimit)
	query, err := rem.Parse(in.Query)
	if errors.Is(err, rem.ErrNoVerb) {
		words := []rune(strings.Join(strings.Fields(in.Query), " "))
		return rem.Fuzzy{Text: string(words[:min(len(words), rem.MaxText)]), Threshold: plainThreshold, Limit: limit}, nil
	}
	if fuzzy, ok := query.(rem.Fuzzy); ok && !fuzzy.LimitGiven {
		fuzzy.Limit = limit
		return fuzzy, nil
	}
	return query, err
}

// suggest finds keys that resemble the missing ones.
func suggest(ctx context.Context, k rem.Knowledge, missing []string) ([]string, error) {
	const (
		keys = 3
		each = 3
	)
	var near []string
	for _, key := range missing[:min(len(missing), keys)] {
		matches, err := k.Fuzzy(ctx, key, rem.DefaultThreshold, each)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			if !slices.Contains(near, m.Key) {
				near = append(near, m.Key)
			}
		}
	}
	return near, nil
}
