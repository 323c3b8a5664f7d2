package store

import "context"

// PutDocuments writes files with what was made of them, in one transaction, but
// for documents of more than some hundred parts, most of which are written before
// it: the file (the caller's, or the shared one, with that URI), its ontology and
// its chunks, whose FileID, Ordinal and owner are set. What the file had before
// and has no longer (by name) is deleted. Rows that are there already, as they
// are, are not touched, so that storing a document again writes nothing; each
// Document says in Written whether anything was.
//
// A chunk or an ontology whose name is that of another file's is ErrConflict,
// and nothing is written: names are the caller's to choose.
func (s *Store) PutDocuments(ctx context.Context, docs ...*Document) error {
	for _, d := range docs {
		if err := d.check(); err != nil {
			return missingFirst(ctx, err)
		}
	}
	for _, d := range docs {
		d.Written = false
		if err := s.putAhead(ctx, d); err != nil {
			return err
		}
	}
	return s.writing(ctx, "store documents", func(w *writer) error {
		for _, d := range docs {
			if err := w.putDocument(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *Document) check() error {
	if d.File == nil || d.File.URI == "" {
		return invalidf("a document is a file with a uri")
	}
	if err := d.File.check(); err != nil {
		return err
	}
	if d.Ontology != nil {
		d.Ontology.Shared = d.File.Shared
		if err := d.Ontology.check(); err != nil {
			return err
		}
	}
	names := make(map[string]bool, len(d.Chunks))
	for i, x := range d.Chunks {
		if x.Ordinal, x.Shared = i, d.File.Shared; names[x.Name] {
			return invalidf("two chunks of %.128q have the name %.128q", d.File.URI, x.Name)
		}
		names[x.Name] = true
		if err := x.check(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putDocument(ctx context.Context, d *Document) error {
	owner := w.sc.owner(d.File.Shared)
	p, err := files.place(ctx, w.c, w.store.dialect, w.sc, owner, d.File)
	if err != nil {
		return err
	}
	var documents []record
	if d.Ontology != nil {
		d.Ontology.FileID = p.id
		documents = append(documents, d.Ontology)
	}
	chunks := make([]record, len(d.Chunks))
	for i, x := range d.Chunks {
		x.FileID = p.id
		chunks[i] = x
	}
	// The stale rows first: their keys may be wanted.
	oldDocuments, err := w.removeStale(ctx, d, ontologies, p, documents)
	if err != nil {
		return err
	}
	oldChunks, err := w.removeStale(ctx, d, resources, p, chunks)
	if err != nil {
		return err
	}
	if !w.kept(d.File, p) {
		d.Written = true
		if err := w.replace(ctx, files, p, d.File, owner); err != nil {
			return err
		}
	}
	if err := w.putParts(ctx, d, ontologies, documents, oldDocuments); err != nil {
		return err
	}
	return w.putParts(ctx, d, resources, chunks, oldChunks)
}

// kept reports whether the row is there as it is, and sets what the store knows
// of it.
func (w *writer) kept(rec record, p placed) bool {
	if !p.live || !sameRow(rec, p.old) {
		return false
	}
	at, old := rec.place(), p.old.place()
	*at.tenant, *at.id, *at.user, *at.shared = *old.tenant, *old.id, *old.user, *old.shared
	*at.created, *at.updated = *old.created, *old.updated
	return true
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

// removeStale deletes the rows of the file that are not among its parts any
// more, and returns the others by name.
func (w *writer) removeStale(ctx context.Context, d *Document, t *table, p placed, parts []record) (map[string]record, error) {
	if p.old == nil {
		return nil, nil
	}
	kept := make(map[string]bool, len(parts))
	for _, rec := range parts {
		kept[rec.entry().name] = true
	}
	old := make(map[string]record, len(parts))
	var stale []record
	if err := t.parts(ctx, w.c, w.sc.TenantID, p.id, func(rec record) {
		if name := rec.entry().name; kept[name] {
			old[name] = rec
		} else {
			stale = append(stale, rec)
		}
	}); err != nil {
		return nil, err
	}
	for _, rec := range stale {
		d.Written = true
		if err := w.remove(ctx, t, rec); err != nil {
			return nil, err
		}
	}
	return old, nil
}

// putParts writes the parts that are not stored as they are; old are those stored,
// by name.
func (w *writer) putParts(ctx context.Context, d *Document, t *table, parts []record, old map[string]record) error {
	owner := w.sc.owner(d.File.Shared)
	for _, rec := range parts {
		name := rec.entry().name
		if was := old[name]; was != nil && w.kept(rec, placed{id: *was.place().id, old: was, live: true}) {
			continue
		}
		p, err := t.place(ctx, w.c, w.store.dialect, w.sc, owner, rec)
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

// fileOf is the file of which a row was made, "" for none.
func fileOf(rec record) string {
	switch x := rec.(type) {
	case *Resource:
		return x.FileID
	case *Ontology:
		return x.FileID
	}
	return ""
}

// removeParts deletes what was made of a file.
func (w *writer) removeParts(ctx context.Context, file string) error {
	for _, t := range []*table{ontologies, resources} {
		var all []record
		if err := t.parts(ctx, w.c, w.sc.TenantID, file, func(rec record) { all = append(all, rec) }); err != nil {
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
