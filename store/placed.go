package store

import "context"

// placed is the row that a write replaces, or the id of a new one.
type placed struct {
	id  string
	old record
	// live is true if old is not deleted.
	live bool
}

// place finds the row to write, and locks it unless lock is "": the one with the record's id, which the write
// renames; else the owner's row of that identity, preferably a live one; else a new row
// with the deterministic id, or a random one if a renamed row has that id.
func (t *table) place(ctx context.Context, c Conn, lock string, by caller, owner any, rec record) (p placed, err error) {
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
	q.add(`tenant_id = `).arg(by.TenantID)
	q.add(` AND id = `).arg(p.id)
	if !given {
		q.add(` OR tenant_id = `).arg(by.TenantID)
		q.add(` AND ` + column + ` = `).arg(value)
		q.owned(owner)
	}
	q.add(lock)

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

// parts calls each for the live rows of a table that were made of a file.
func (t *table) parts(ctx context.Context, c Conn, tenant, file string, each func(record)) error {
	q := newQuery(t.selects)
	q.args = []any{tenant, file}
	q.add(`tenant_id = $1 AND file_id = $2 AND deleted_at IS NULL`)
	return t.read(ctx, c, q, func(rec record) error {
		each(rec)
		return nil
	})
}
