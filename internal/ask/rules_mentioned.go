package ask

import (
	"context"
	"slices"
	"strings"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

const (
	// maxPhrase bounds the words of a key that a question mentions, maxPhrases the keys
	// that are tried, the longest first.
	maxPhrase  = 5
	maxPhrases = 3 * rem.MaxKeys
)

// beforeSearch is mentioned for the rest of a question whose words would be searched. A
// search that is asked for stays one, unless all of w is a key: "search ranking notes".
func (r rules) beforeSearch(ctx context.Context, w, rest words) (proposal, error) {
	if _, searches := w.begins("search|look|find"); !searches {
		return r.mentioned(ctx, rest)
	}
	keys, err := r.keysIn(ctx, []string{store.NormalizeKey(w.text())})
	if err != nil || len(keys) == 0 {
		return proposal{}, err
	}
	return proposal{Query: rem.Lookup{Keys: keys}.String(), Confidence: exact}, nil
}

// asksOf is mentioned for a question about what is stored. An opinion ("should I …") is not.
func (r rules) asksOf(ctx context.Context, w words) (proposal, error) {
	if _, asks := w.begins("what|which|who|whose|whom|when|where|how|why|is|are|was|were|does|do|did|has|have|tell|about|describe"); !asks {
		return proposal{}, nil
	}
	return r.mentioned(ctx, w)
}

// mentioned reads a question that names a row among other words: "what does the migration
// plan say about risks". Single words count only if they are written as keys are.
func (r rules) mentioned(ctx context.Context, w words) (proposal, error) {
	type phrase struct {
		key        string
		start, end int
	}
	var phrases []phrase
	for n := min(maxPhrase, w.len()); n > 0; n-- {
		for i := 0; i+n <= w.len() && len(phrases) < maxPhrases; i++ {
			key := store.NormalizeKey(w.slice(i, i+n).text())
			if n > 1 || strings.Contains(w.low[i], "-") && strings.Contains(key, "-") {
				phrases = append(phrases, phrase{key, i, i + n})
			}
		}
	}
	var keys []string
	for _, p := range phrases {
		if p.key != "" && !slices.Contains(keys, p.key) {
			keys = append(keys, p.key)
		}
	}
	known, err := r.keysIn(ctx, keys)
	if err != nil || len(known) == 0 {
		return proposal{}, err
	}
	var q rem.Lookup
	taken := make([]bool, w.len())
	for _, p := range phrases {
		if !slices.Contains(known, p.key) || slices.Contains(taken[p.start:p.end], true) || len(q.Keys) == rem.MaxKeys {
			continue
		}
		for i := p.start; i < p.end; i++ {
			taken[i] = true
		}
		if !slices.Contains(q.Keys, p.key) {
			q.Keys = append(q.Keys, p.key)
		}
	}
	return proposal{Query: q.String(), Confidence: likely}, nil
}

// keysIn returns those of the keys that rows have; pages of p8's manual do not count.
func (r rules) keysIn(ctx context.Context, keys []string) (known []string, err error) {
	for part := range slices.Chunk(keys, rem.MaxKeys) {
		res, err := r.engine.Execute(ctx, rem.Traverse{Keys: part, Plan: true})
		if err != nil {
			return nil, err
		}
		for _, key := range part {
			if !slices.Contains(res.Missing, key) {
				known = append(known, key)
			}
		}
	}
	return known, nil
}
