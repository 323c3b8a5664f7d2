package store

import "context"

// kept reports whether the stored row is equal to the record, and sets the record's id,
// owner and times from it.
func (w *writer) kept(rec record, p placed) bool {
	if !p.live || !sameRow(rec, p.old) {
		return false
	}
	at, old := rec.place(), p.old.place()
	*at.tenant, *at.id, *at.user, *at.shared = *old.tenant, *old.id, *old.user, *old.shared
	*at.created, *at.updated = *old.created, *old.updated
	return true
}

// putParts writes the parts that differ from old, the stored ones by name.
func (w *writer) putParts(ctx context.Context, d *Document, t *table, parts []record, old map[string]record) error {
	owner := w.by.owner(d.File.Shared)
	for _, rec := range parts {
		name := rec.entry().name
		if was := old[name]; was != nil && w.kept(rec, placed{id: *was.place().id, old: was, live: true}) {
			continue
		}
		p, err := t.place(ctx, w.c, w.store.dialect.lock(), w.by, owner, rec)
		if err != nil {
			return err
		}
		if of := fileOf(p.old); p.live && of != "" && of != fileOf(rec) {
			return foreign(t, name, d)
		}
		d.Written = true
		if err := w.replace(ctx, t, p, rec, owner); err != nil {
			return err
		}
	}
	return nil
}

// fileOf returns the file of which a row was made, "" for none.
func fileOf(rec record) string {
	switch x := rec.(type) {
	case *Resource:
		return x.FileID
	case *Ontology:
		return x.FileID
	}
	return ""
}

func foreign(t *table, name string, d *Document) error {
	return conflictf("the %s %.128q was made of another file than %.128q", t.Type, name, d.File.URI)
}
