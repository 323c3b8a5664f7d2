package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
)

// placed is the row that a write replaces, or the id of a new one.
type placed struct {
	id  string
	old record
	// live says that old is not deleted.
	live bool
}

// place finds the row to write: the one with the record's id (renamed by the
// write), else the owner's row of that identity, a live one if there is one,
// else none, with the deterministic id unless a renamed row still holds it. The
// row stays locked until the transaction ends.
func (t *table) place(ctx context.Context, c Conn, d Dialect, sc scope, owner any, rec record) (p placed, err error) {
	p.id = *rec.place().id
	column, value := rec.identity()
	if p.id == "" && column == "" {
		p.id, err = newID()
		return p, err
	}
	given := p.id != ""
	user, _ := owner.(string)
	if !given {
		p.id = EntityID(t.Name, value, user)
	} else if err := checkID(p.id); err != nil {
		return p, err
	}
	q := newQuery(t.placing)
	q.add(`tenant_id = `).arg(sc.TenantID)
	q.add(` AND id = `).arg(p.id)
	if !given {
		q.add(` OR tenant_id = `).arg(sc.TenantID)
		q.add(` AND ` + column + ` = `).arg(value)
		q.owned(owner)
	}
	q.add(d.lock())

	taken := false
	var f fields
	err = c.Query(ctx, q.String(), func(r Row) error {
		rec, live := t.new(), false
		if err := f.scan(r, rec, &live); err != nil {
			return err
		}
		at := rec.place()
		k, v := rec.identity()
		switch {
		case given && at.owner() != owner:
			return notFound(t.Type, p.id)
		case !given && (k != column || v != value || at.owner() != owner):
			taken = taken || *at.id == p.id // by a row of another name
		case p.old == nil, live && !p.live, live == p.live && *at.id < *p.old.place().id:
			p.old, p.live = rec, live
		}
		return nil
	}, q.args...)
	switch {
	case err != nil:
	case p.old != nil:
		p.id = *p.old.place().id
	case taken:
		p.id, err = newID()
	}
	return p, err
}

// put writes a record for the caller, in a transaction: the row, its key, its
// history, the task to embed its text. The record must be checked, unless it is
// merged.
func (w *writer) put(ctx context.Context, t *table, rec record, o PutOptions) error {
	at := rec.place()
	// Private rows are their writer's, whatever they say.
	owner := w.sc.owner(*at.shared && !t.Private)
	p, err := t.place(ctx, w.c, w.store.dialect, w.sc, owner, rec)
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

// addMetadata adds what is said to what is stored.
func addMetadata(said *json.RawMessage, stored json.RawMessage) error {
	if err := checkObject("metadata", said); err != nil || len(*said) == 0 {
		return err
	}
	merged, _, err := MergeObjects(stored, *said)
	*said = merged
	return err
}

// replace writes a record at its place.
func (w *writer) replace(ctx context.Context, t *table, p placed, rec record, owner any) error {
	if err := w.mayReplace(t, rec, owner); err != nil {
		return err
	}
	at := rec.place()
	*at.tenant, *at.id, *at.created, *at.updated = w.sc.TenantID, p.id, w.now, w.now
	*at.user, _ = owner.(string)
	*at.shared = owner == nil
	if p.old != nil {
		*at.created = *p.old.place().created
	}
	var f fields
	args := []any{w.sc.TenantID}
	for _, x := range f.of(rec) {
		args = append(args, x.arg())
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

// remove hides a row of the caller's tenant and forgets its key and its
// vectors; of a file, also what was made of it.
func (w *writer) remove(ctx context.Context, t *table, rec record) error {
	at := rec.place()
	if err := w.mayShare(t, at.owner()); err != nil {
		return err
	}
	if _, err := w.c.Exec(ctx, `UPDATE `+t.Name+` SET deleted_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2`,
		w.sc.TenantID, *at.id, w.now); err != nil {
		return err
	}
	w.changed(t, *at.user, *at.id)
	if t.Keyed {
		if err := dropKey(ctx, w.c, w.sc.TenantID, t.Type, *at.id); err != nil {
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

// named is the caller's own row of that name or id, else its tenant's shared one.
func (w *writer) named(ctx context.Context, t *table, nameOrID string) (found record, err error) {
	_, err = t.byNameOrID(nameOrID, func(column string) (bool, error) {
		q := newQuery(t.selects)
		if t.Private {
			q.add(`tenant_id = `).arg(w.sc.TenantID)
			q.owned(w.sc.user)
		} else {
			q.args = []any{w.sc.TenantID, w.sc.user}
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

// refused says why the table's guard kept a row as it is.
func (t *table) refused(rec record) error {
	d, _ := rec.(*Schema)
	return conflictf("the schema %q was written by a person; a %s document does not replace it", d.Name, d.Origin)
}

// byNameOrID looks for a row by name and, if there is none and it could be one,
// by id: two statements with an index each rather than one with an OR.
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

// writer is a transaction that writes records for a caller.
type writer struct {
	store *Store
	c     Conn
	sc    scope
	now   time.Time
	// changes are the rows that the indexes in memory must read again; queued says
	// that texts wait for their vectors.
	changes []change
	queued  bool
}

func (w *writer) changed(t *table, user, id string) {
	w.changes = append(w.changes, change{w.sc.TenantID, keyOwner(t, user), t.Type, id})
}

// writing runs fn in one transaction for the caller of ctx, and tells the
// indexes in memory afterwards, whatever came of it.
func (s *Store) writing(ctx context.Context, op string, fn func(*writer) error) error {
	w := &writer{store: s, now: s.clock()}
	err := s.write(ctx, op, func(c Conn, sc scope) error {
		// An engine may run a transaction again.
		w.c, w.sc, w.queued = c, sc, false
		return fn(w)
	})
	s.announce(w.changes, err == nil && w.queued)
	return err
}

// announce marks the rows that may have changed in the in-memory indexes, and wakes the
// embedder if texts are queued.
func (s *Store) announce(changes []change, queued bool) {
	for _, ch := range changes {
		if ch.id != "" {
			s.fuzzy.Changed(keyScope{ch.tenant, ch.owner}, ch)
		}
	}
	s.vectorsChanged(changes...)
	if queued {
		select {
		case s.queued <- struct{}{}:
		default:
		}
	}
}

func (s *Store) vectorsChanged(changes ...change) {
	if s.vectors == nil {
		return
	}
	for _, ch := range changes {
		if t := tableOf(ch.entity); t != nil && ch.id != "" {
			s.vectors.Changed(vectorSet{ch.tenant, t.Name}, ch.id)
		}
	}
}

func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}
