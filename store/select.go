package store

import (
	"context"
	"errors"
	"time"
)

// The bounds of a SELECT, by default and at most.
const (
	defaultSelectRows    = 1000
	maxSelectRows        = 10_000
	defaultSelectBytes   = 1 << 20
	maxSelectBytes       = 16 << 20
	defaultSelectTimeout = 5 * time.Second
	maxSelectTimeout     = time.Minute
)

// Select runs a SELECT in PostgreSQL's dialect that a caller or a model wrote.
// It reads the tables of [Tables]: the caller's own rows, the shared ones of its tenant
// and the system's, no deleted ones. Zero bounds are 1000 rows, 1 MiB and 5 s; the
// largest are 10,000 rows, 16 MiB and a minute. A mistake in the text is a
// [*SelectError], which is fit for a model. A SELECT that is refused because others are
// running is a [*BusyError].
func (s *Store) Select(ctx context.Context, sql string, b SelectBounds) (Selection, error) {
	const op = "select"
	by, err := callerOf(ctx)
	if err != nil {
		return Selection{}, err
	}
	b.Rows = bounded(b.Rows, defaultSelectRows, maxSelectRows)
	b.Bytes = bounded(b.Bytes, defaultSelectBytes, maxSelectBytes)
	b.Timeout = bounded(b.Timeout, defaultSelectTimeout, maxSelectTimeout)
	sel, err := s.sharedSelect(ctx, Scope{Tenant: by.TenantID, User: by.UserID}, sql, b)
	var mistake *SelectError
	if errors.As(err, &mistake) {
		return Selection{}, mistake
	}
	if err == nil {
		sel, err = s.openSelection(ctx, by, sel)
	}
	return sel, fail(op, err)
}

// bounded returns n, but not more than most; if n is not positive, it returns none.
func bounded[N int | time.Duration](n, none, most N) N {
	if n <= 0 {
		return none
	}
	return min(n, most)
}
