package store

import (
	"context"
	"slices"
	"time"

	"github.com/p8-org/p8/identity"
)

// Repository is the rows of one table that the caller may read: its own, its
// tenant's shared ones, the system's; moments and feedback are private: its own
// only. Writes concern its own rows and the shared ones of its tenant only.
type Repository[T any] struct {
	store *Store
	table *table
	// row is a row as a record.
	row func(*T) record
}

// Resources are pieces of knowledge.
func (s *Store) Resources() Repository[Resource] {
	return Repository[Resource]{s, resources, func(x *Resource) record { return x }}
}

// Ontologies are documents of a domain.
func (s *Store) Ontologies() Repository[Ontology] {
	return Repository[Ontology]{s, ontologies, func(x *Ontology) record { return x }}
}

// Moments are what happened to the caller.
func (s *Store) Moments() Repository[Moment] {
	return Repository[Moment]{s, moments, func(x *Moment) record { return x }}
}

// Files are the files that were taken in. A file is told from others by its
// URI when it has one; its name is still its key.
func (s *Store) Files() Repository[File] {
	return Repository[File]{s, files, func(x *File) record { return x }}
}

// Feedback is what the caller said about answers. It has no names: Get and
// Delete take ids.
func (s *Store) Feedback() Repository[Feedback] {
	return Repository[Feedback]{s, feedback, func(x *Feedback) record { return x }}
}

// Filter selects rows; its zero value is all of them. Every condition must hold.
type Filter struct {
	// IDs and Names are at most 1000 each; none is any.
	IDs   []string
	Names []string
	// Equal holds columns and the values they must have: string, int, int64,
	// float64, time.Time, or nil for NULL. A column that the table does not have,
	// or that holds JSON, is ErrInvalid.
	Equal map[string]any
	// Tags must all be there.
	Tags []string
	// HasAll holds columns that are lists of texts, and the texts, at most 1000, that
	// must be in them. Another column is ErrInvalid.
	HasAll map[string][]string
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
	// but for the columns in Clear. A deleted row is not merged with.
	Merge bool
	Clear []string
	// Metadata of a merge are added to the stored ones, key by key ([MergeObjects]).
	Metadata bool
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
	// What the rows say, before they are merged with what is there.
	said := make([]T, len(rows))
	for i, row := range rows {
		said[i] = *row
	}
	return r.store.writing(ctx, "store "+r.table.Name, func(w *writer) error {
		for i, row := range rows {
			*row = said[i]
			if err := w.put(ctx, r.table, r.row(row), o); err != nil {
				return err
			}
		}
		return nil
	})
}

// Get is a row by its id: of several the nearest. None that the caller may see
// is ErrNotFound.
func (r Repository[T]) Get(ctx context.Context, id string) (T, error) { return r.one(ctx, "id", id) }

// ByName is a row by its exact name: the caller's own, else its tenant's shared
// one, else the system's.
func (r Repository[T]) ByName(ctx context.Context, name string) (T, error) {
	if !r.table.named() {
		var none T
		return none, missingFirst(ctx, invalidf("%s has no names", r.table.Name))
	}
	return r.one(ctx, "name", name)
}

func (r Repository[T]) one(ctx context.Context, column, value string) (row T, err error) {
	err = r.store.read(ctx, "read "+r.table.Type, func(c Conn, sc scope) error {
		rec, err := r.table.nearest(ctx, c, sc, column, value)
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

// Delete hides the caller's own row of that name or id, else its tenant's
// shared one, and removes its key. Written again, it comes back. With a file
// goes what was made of it: its ontology and its chunks.
func (r Repository[T]) Delete(ctx context.Context, nameOrID string) error {
	return r.store.remove(ctx, r.table, nameOrID)
}

func (s *Store) remove(ctx context.Context, t *table, nameOrID string) error {
	if t == files {
		if err := s.removeAhead(ctx, nameOrID); err != nil {
			return err
		}
	}
	return s.writing(ctx, "delete "+t.Type, func(w *writer) error {
		_, err := w.removeNamed(ctx, t, nameOrID)
		return err
	})
}

// The condition of the rows of a shared table that the caller may read: its
// own, its tenant's shared ones, the system's. It uses $1 (tenant), $2 (user) and
// $3 (identity.SystemTenant). nearness orders them.
const (
	visible  = `(tenant_id = $1 AND user_id = $2 OR tenant_id = $1 AND user_id IS NULL OR tenant_id = $3 AND user_id IS NULL) AND deleted_at IS NULL`
	nearness = `CASE WHEN user_id IS NOT NULL THEN 0 WHEN tenant_id = $1 THEN 1 ELSE 2 END`
)

// visible begins a query of the records that the caller may read, and says how
// to order them, the nearest first.
func (t *table) visible(sc scope) (q *query, order string) {
	q = newQuery(t.selects)
	if !t.Private {
		q.add(visible)
		q.args = []any{sc.TenantID, sc.user, identity.SystemTenant}
		return q, nearness
	}
	q.add(`tenant_id = `).arg(sc.TenantID)
	q.owned(sc.user)
	q.add(` AND deleted_at IS NULL`)
	return q, "id"
}

// visibleOf is visible, of rows with one of the ids. The tenants are named once
// more, so that the ids are where an engine begins, not all rows of the owners.
func (t *table) visibleOf(d Dialect, sc scope, ids []string) (q *query, order string) {
	q, order = t.visible(sc)
	if !t.Private {
		q.add(` AND tenant_id IN ($1, $3)`)
	}
	q.in(d, "id", ids)
	return q, order
}

// nearest is the nearest record with that value, nil for none.
func (t *table) nearest(ctx context.Context, c Conn, sc scope, column, value string) (record, error) {
	q, order := t.visible(sc)
	q.add(` AND ` + column + ` = `).arg(value)
	q.add(` ORDER BY ` + order + ` LIMIT 1`)
	return t.first(ctx, c, q)
}
