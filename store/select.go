package store

import (
	"cmp"
	"context"
	"time"
)

// The bounds of a SELECT, when none are given and at most.
const (
	defaultSelectRows, maxSelectRows       = 1000, 10_000
	defaultSelectBytes, maxSelectBytes     = 4 << 20, 64 << 20
	defaultSelectTimeout, maxSelectTimeout = 5 * time.Second, time.Minute
)

// Select runs a SELECT that the caller wrote over the tables of [Store.Tables]
// and kv_store, seeing the rows that the caller may read and nothing else. Bounds
// that are 0 are 1000 rows, 4 MiB and 5 s. What is wrong with the text is a
// [*SelectError].
func (s *Store) Select(ctx context.Context, sql string, b SelectBounds) (Selection, error) {
	sc, err := scopeOf(ctx)
	if err != nil {
		return Selection{}, err
	}
	b.Rows = page(b.Rows, defaultSelectRows, maxSelectRows)
	b.Bytes = page(b.Bytes, defaultSelectBytes, maxSelectBytes)
	b.Timeout = min(cmp.Or(max(b.Timeout, 0), defaultSelectTimeout), maxSelectTimeout)
	if err := cleanText("the query", &sql); err != nil {
		return Selection{}, err
	}
	found, err := s.engine.Select(ctx, sc.scope(), sql, b)
	return found, fail("select", err)
}
