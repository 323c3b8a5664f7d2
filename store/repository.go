package store

import (
	"context"
	"time"
)

// Repository is the rows of one table that the caller may read: its own, its
// tenant's shared ones, the system's. Writes concern its own rows and the
// shared ones of its tenant only.
type Repository[T any] struct {
	store *Store
	table *table[T]
}

// Filter selects rows; its zero value is all of them. Every condition must hold.
type Filter struct {
	IDs   []string
	Names []string
	// Equal holds columns and the values they must have; a column that the table
	// does not have is ErrInvalid.
	Equal map[string]any
	// Tags must all be there.
	Tags []string
	// Since and Before bound created_at: since <= created_at < before.
	Since, Before time.Time
	// Own leaves out shared rows.
	Own bool
	// Limit is the most rows, 0 for 50; at most 1000.
	Limit int
	// After is the cursor of the page before.
	After string
}

// PutOptions say how rows are written.
type PutOptions struct {
	// Merge keeps the stored value of each field that is empty in the new row,
	// but for the columns in Clear.
	Merge bool
	Clear []string
}

// Put writes rows in one transaction, for the caller, or for everybody of the
// tenant when Shared (an anonymous caller's rows always are). A row of the same
// name and owner, even a deleted one, is replaced and keeps its id and
// created_at; with an ID, the row of that id is replaced, and renamed. Ids,
// owners and times are set in the rows. A name whose key another row of the
// owner and table has is ErrConflict, and nothing is written.
func (r Repository[T]) Put(ctx context.Context, rows ...*T) error {
	return r.PutWith(ctx, PutOptions{}, rows...)
}
