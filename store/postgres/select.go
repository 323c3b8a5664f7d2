package postgres

import (
	"context"

	"p8/store"
)

// Select implements store.Engine.
func (e *engine) Select(ctx context.Context, sc store.Scope, sql string, b store.SelectBounds) (store.Selection, error) {
	return store.Selection{}, &store.SelectError{Problem: "SQL is not available on this engine"}
}
