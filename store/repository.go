package store

import (
	"context"
	"slices"
	"time"
)

// Repository reads and writes one table of knowledge. A caller reads its own rows, the
// shared ones of its tenant and the system's, and writes its own and its tenant's shared
// ones. Moments and feedback are private: a caller reads and writes its own only.
type Repository[T any] struct {
	store *Store
	table *table
	// row is a row as a record.
	row func(*T) record
}

// Resources returns the repository of pieces of knowledge.
func (s *Store) Resources() Repository[Resource] {
	return Repository[Resource]{s, resources, func(x *Resource) record { return x }}
}

// Ontologies returns the repository of whole pages.
func (s *Store) Ontologies() Repository[Ontology] {
	return Repository[Ontology]{s, ontologies, func(x *Ontology) record { return x }}
}

// Moments returns the repository of the caller's moments.
func (s *Store) Moments() Repository[Moment] {
	return Repository[Moment]{s, moments, func(x *Moment) record { return x }}
}

// Files returns the repository of ingested files. A file is identified by its URI if it has
// one; its name is its key.
func (s *Store) Files() Repository[File] {
	return Repository[File]{s, files, func(x *File) record { return x }}
}

// Feedback returns the repository of the caller's ratings of answers, and comments on them.
// Feedback has no names: Get and Delete take ids.
func (s *Store) Feedback() Repository[Feedback] {
	return Repository[Feedback]{s, feedback, func(x *Feedback) record { return x }}
}

// Filter selects rows; its zero value is all of them. Every condition must hold.
type Filter struct {
	// IDs and Names are at most 1000 each; empty for any.
	IDs   []string
	Names []string
	// Equal holds columns and the values they must have: string, int, int64,
	// float64, time.Time, or nil for NULL. A column that the table does not have,
	// or that holds JSON, is ErrInvalid.
	Equal map[string]any
	// Tags must all be in the row's tags.
	Tags []string
	// HasAll holds columns that are lists of texts, and the texts, at most 1000, that
	// must be in them. Another column is ErrInvalid.
	HasAll map[string][]string
	// Since and Before bound created_at: since <= created_at < before.
	Since, Before time.Time
	// Happened orders and bounds moments by the time at which they began, as the feed does,
	// instead of created_at. Other rows do not happen: ErrInvalid.
	Happened bool
	// Own leaves out shared rows.
	Own bool
	// Limit is the most rows, 0 for 50; at most 1000.
	Limit int
	// After is the cursor of the page before.
	After string
}

// Put writes rows in one transaction, for the caller, or for everybody of the tenant if
// they are Shared (an anonymous caller's rows always are). It replaces a row of the same
// name and owner, even a deleted one, which keeps its id and created_at; with an ID, it
// replaces and renames the row of that id. It sets ids, owners and times in the rows. If
// another row of the owner and table has the key of a name, Put returns ErrConflict and
// writes nothing.
func (r Repository[T]) Put(ctx context.Context, rows ...*T) error {
	return r.PutWith(ctx, PutOptions{}, rows...)
}

// PutWith is Put, with options.
func (r Repository[T]) PutWith(ctx context.Context, o PutOptions, rows ...*T) error {
	for _, column := range o.Clear {
		if !slices.ContainsFunc(r.table.columns, func(c ColumnInfo) bool { return c.Name == column }) {
			return missingFirst(ctx, invalidf("%s has no column %.64q to clear", r.table.Name, column))
		}
	}
	if !o.Merge {
		for _, row := range rows {
			if err := r.row(row).check(); err != nil {
				return missingFirst(ctx, err)
			}
		}
	}
	// The rows as given, before they are merged with the stored ones.
	said := make([]T, len(rows))
	for i, row := range rows {
		said[i] = *row
	}
	err := r.store.writing(ctx, "store "+r.table.Name, func(w *writer) error {
		for i, row := range rows {
			*row = said[i]
			if err := w.put(ctx, r.table, r.row(row), o); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && r.table.Keyed {
		r.store.grew(ctx, len(rows))
	}
	return err
}

// Get returns the row of an id, the nearest of several. If the caller may read no row of that
// id, it returns ErrNotFound.
func (r Repository[T]) Get(ctx context.Context, id string) (T, error) { return r.one(ctx, "id", id) }

// ByName returns the row of an exact name: the caller's own, else its tenant's shared one,
// else the system's.
func (r Repository[T]) ByName(ctx context.Context, name string) (T, error) {
	if !r.table.named() {
		var none T
		return none, missingFirst(ctx, invalidf("%s has no names", r.table.Name))
	}
	return r.one(ctx, "name", name)
}

func (r Repository[T]) one(ctx context.Context, column, value string) (row T, err error) {
	err = r.store.read(ctx, "read "+r.table.Type, func(c Conn, by caller) error {
		rec, err := r.table.nearest(ctx, c, by, column, value)
		if err == nil && rec == nil {
			err = notFound(r.table.Type, value)
		}
		if err == nil {
			row = *rec.(any).(*T)
		}
		return err
	})
	return row, err
}
