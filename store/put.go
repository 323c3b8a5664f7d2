package store

import (
	"context"
	"encoding/json"
	"slices"
)

// addMetadata merges the given metadata into the stored one.
func addMetadata(said *json.RawMessage, stored json.RawMessage) error {
	if err := checkObject("metadata", said); err != nil || len(*said) == 0 {
		return err
	}
	merged, _, err := MergeObjects(stored, *said)
	*said = merged
	return err
}

// refused returns the error for a row that the table's guard did not replace.
func (t *table) refused(rec record) error {
	d, _ := rec.(*Schema)
	return conflictf("the schema %q was written by a person; a %s document does not replace it", d.Name, d.Origin)
}

// byNameOrID looks for a row by name and, if no row has the name and it could be an id, by
// id: two statements with an index each rather than one with an OR.
func (t *table) byNameOrID(nameOrID string, find func(column string) (bool, error)) (bool, error) {
	if t.named() {
		if found, err := find("name"); err != nil || found || checkID(nameOrID) != nil {
			return found, err
		}
	}
	return find("id")
}

// named reports whether the table's rows have names.
func (t *table) named() bool {
	return slices.ContainsFunc(t.columns, func(c ColumnInfo) bool { return c.Name == "name" })
}

// put writes a record for the caller, in a transaction: the row, its key, its
// history, the task to embed its text. The record must be checked, unless it is
// merged.
func (w *writer) put(ctx context.Context, t *table, rec record, o PutOptions) error {
	at := rec.place()
	// Private rows belong to their writer, even if Shared is set.
	owner := w.by.owner(*at.shared && !t.Private)
	p, err := t.place(ctx, w.c, w.store.dialect.lock(), w.by, owner, rec)
	if err != nil {
		return err
	}
	if o.Merge {
		if p.live && o.Metadata {
			if err := addMetadata(at.metadata, *p.old.place().metadata); err != nil {
				return err
			}
		}
		if p.live {
			merge(rec, p.old, o.Clear)
		}
		if err := rec.check(); err != nil {
			return err
		}
	}
	return w.replace(ctx, t, p, rec, owner)
}

// replace writes a record at its place.
func (w *writer) replace(ctx context.Context, t *table, p placed, rec record, owner any) error {
	if err := w.mayReplace(t, rec, owner); err != nil {
		return err
	}
	at := rec.place()
	*at.tenant, *at.id, *at.created, *at.updated = w.by.TenantID, p.id, w.now, w.now
	*at.user, _ = owner.(string)
	*at.shared = owner == nil
	if p.old != nil {
		*at.created = *p.old.place().created
	}
	if m, ok := rec.(*Moment); ok {
		m.begin()
	}
	var f fields
	args := []any{w.by.TenantID}
	for _, x := range f.of(rec) {
		args = append(args, w.by.seal.field(t, x))
	}
	n, err := w.c.Exec(ctx, t.upsert, args...)
	if err != nil {
		return err
	}
	if n == 0 {
		return t.refused(rec)
	}
	w.changed(t, *at.user, p.id)
	if err := w.putKey(ctx, t, p, rec); err != nil {
		return err
	}
	return w.putText(ctx, t, p, rec)
}

// remove hides a row of the caller's tenant and deletes its key and its vectors; with a
// file, also its ontology and its chunks.
func (w *writer) remove(ctx context.Context, t *table, rec record) error {
	at := rec.place()
	if err := w.mayShare(t, at.owner()); err != nil {
		return err
	}
	if _, err := w.c.Exec(ctx, `UPDATE `+t.Name+` SET deleted_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2`,
		w.by.TenantID, *at.id, w.now); err != nil {
		return err
	}
	w.changed(t, *at.user, *at.id)
	if t.Keyed {
		if err := dropKey(ctx, w.c, w.by.TenantID, t.Type, *at.id); err != nil {
			return err
		}
	}
	if err := w.dropText(ctx, t, *at.id); err != nil || t != files {
		return err
	}
	return w.removeParts(ctx, *at.id)
}

// removeNamed removes the row that named finds, and returns it.
func (w *writer) removeNamed(ctx context.Context, t *table, nameOrID string) (record, error) {
	found, err := w.named(ctx, t, nameOrID)
	if err != nil {
		return nil, err
	}
	return found, w.remove(ctx, t, found)
}

// named returns the caller's own row of that name or id, else its tenant's shared one.
func (w *writer) named(ctx context.Context, t *table, nameOrID string) (found record, err error) {
	_, err = t.byNameOrID(nameOrID, func(column string) (bool, error) {
		q := newQuery(t.selects)
		if t.Private {
			q.add(`tenant_id = `).arg(w.by.TenantID)
			q.owned(w.by.user)
		} else {
			q.args = []any{w.by.TenantID, w.by.user}
			q.add(`(tenant_id = $1 AND user_id = $2 OR tenant_id = $1 AND user_id IS NULL)`)
		}
		q.add(` AND deleted_at IS NULL AND ` + column + ` = `).arg(nameOrID)
		q.add(` ORDER BY user_id IS NULL LIMIT 1`)
		found, err = t.first(ctx, w.c, q)
		return found != nil, err
	})
	if err == nil && found == nil {
		err = notFound(t.Type, nameOrID)
	}
	return found, err
}

// removeParts deletes the ontology and the chunks of a file.
func (w *writer) removeParts(ctx context.Context, file string) error {
	for _, t := range []*table{ontologies, resources} {
		var all []record
		if err := t.parts(ctx, w.c, w.by.TenantID, file, func(rec record) { all = append(all, rec) }); err != nil {
			return err
		}
		for _, rec := range all {
			if err := w.remove(ctx, t, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// PutOptions change how rows are written.
type PutOptions struct {
	// Merge keeps the stored value of each field that is empty in the new row,
	// but for the columns in Clear. A deleted row is not merged with.
	Merge bool
	Clear []string
	// Metadata of a merge are added to the stored ones, key by key ([MergeObjects]).
	Metadata bool
}
