package rem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/store"
)

func (e *Engine) lookup(ctx context.Context, q Lookup, res *Result) error {
	if len(q.Keys) > MaxKeys {
		return fmt.Errorf("%w: %d keys are more than %d", store.ErrInvalid, len(q.Keys), MaxKeys)
	}
	res.Keys = q.Keys
	for _, key := range q.Keys {
		rows, err := e.lookupKey(ctx, key)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			res.Missing = append(res.Missing, key)
		}
		res.Results = append(res.Results, rows...)
	}
	return e.suggest(ctx, res)
}

// lookupKey finds the rows of a key. It finds a page of p8's manual by its exact key, if no
// row that the caller may read has the key.
func (e *Engine) lookupKey(ctx context.Context, key string) ([]Row, error) {
	if rows, err := e.message(ctx, key); err != nil || len(rows) > 0 {
		return rows, err
	}
	for _, ctx := range []context.Context{ctx, store.InManual(ctx)} {
		matches, err := e.Knowledge.Lookup(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if len(matches) > 0 {
			return rowsOf(matches), nil
		}
	}
	return nil, nil
}

// suggest finds keys that are similar to the missing ones. A similar summary does not count.
func (e *Engine) suggest(ctx context.Context, res *Result) error {
	const (
		keys       = 3
		each       = 3
		candidates = 30
	)
	for _, key := range res.Missing[:min(len(res.Missing), keys)] {
		matches, err := e.Knowledge.Fuzzy(ctx, key, DefaultThreshold, candidates)
		if err != nil {
			return err
		}
		alike := make([]string, len(matches))
		for i, m := range matches {
			alike[i] = m.Key
		}
		for _, name := range near.Names(store.NormalizeKey(key), alike, each) {
			if !slices.Contains(res.Suggestions, name) {
				res.Suggestions = append(res.Suggestions, name)
			}
		}
	}
	return nil
}

func (e *Engine) fuzzy(ctx context.Context, q Fuzzy, res *Result) error {
	res.Text = q.Text
	if q.Manual {
		ctx = store.InManual(ctx)
	}
	matches, err := e.Knowledge.Fuzzy(ctx, q.Text, cmp.Or(q.Threshold, DefaultThreshold), limited(q.Limit, DefaultLimit))
	if err != nil {
		return err
	}
	res.Results = rowsOf(matches)
	if !q.Load {
		return nil
	}
	nodes := make([]store.Node, len(matches))
	for i, m := range matches {
		nodes[i] = store.Node{Key: m.Key, Type: m.Type, ID: m.ID, Own: m.Own}
	}
	return e.load(ctx, nodes, res.Results)
}

// load puts whole rows into the results.
func (e *Engine) load(ctx context.Context, nodes []store.Node, rows []Row) error {
	data, err := e.Knowledge.Load(ctx, nodes...)
	if err != nil {
		return err
	}
	for i := range rows {
		if i < len(data) {
			rows[i].Data = data[i]
		}
	}
	return nil
}

// limited returns n, at most MaxLimit; otherwise if n is not positive.
func limited(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, MaxLimit)
}
