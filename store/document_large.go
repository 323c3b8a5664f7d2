package store

import (
	"context"
	"slices"
)

// partsAtOnce is how many parts of a document one transaction writes or deletes. While
// SQLite stores a document of 38,000 parts, which takes 10 s, the turns of others take
// 0.1 s at the median and 0.3 s to 1.2 s at most: the transactions that compare all parts
// are the longest.
const partsAtOnce = 500

// partsAhead are the parts of a document that are to be deleted and written.
type partsAhead struct{ stale, changed []record }

// comparePartsAhead compares the documents with the stored ones if one of them is large.
// It refuses every document, also the small ones, before the first part is written.
func (s *Store) comparePartsAhead(ctx context.Context, docs []*Document) ([]partsAhead, error) {
	ahead := make([]partsAhead, len(docs))
	if !slices.ContainsFunc(docs, func(d *Document) bool { return len(d.Chunks) > partsAtOnce }) {
		return ahead, nil
	}
	if err := refuseTwice(docs); err != nil {
		return nil, err
	}
	// This reads every stored part, for which no other writer should wait.
	err := s.read(ctx, "read documents", func(c Conn, by caller) (err error) {
		w := &writer{store: s, c: c, by: by}
		var files []string
		for _, d := range docs {
			p, err := w.placeFile(ctx, d)
			if err != nil {
				return err
			}
			files = append(files, p.id)
		}
		for i, d := range docs {
			// A small document may take the name of a part that another one of the call
			// gives up in the same transaction.
			own := files
			if len(d.Chunks) > partsAtOnce {
				own = files[i : i+1]
			}
			if ahead[i].stale, ahead[i].changed, err = w.compareParts(ctx, d, own); err != nil {
				return err
			}
		}
		return nil
	})
	return ahead, err
}

// refuseTwice returns ErrConflict if parts of two files have one name.
func refuseTwice(docs []*Document) error {
	type part struct {
		table, name string
		shared      bool
	}
	files := make(map[part]string)
	for _, d := range docs {
		take := func(t *table, name string) error {
			x := part{t.Name, name, d.File.Shared}
			if uri, taken := files[x]; taken && uri != d.File.URI {
				return foreign(t, name, d)
			}
			files[x] = d.File.URI
			return nil
		}
		for _, x := range d.Chunks {
			if err := take(resources, x.Name); err != nil {
				return err
			}
		}
		if d.Ontology != nil {
			if err := take(ontologies, d.Ontology.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// putAhead writes the parts of a large document in transactions of partsAtOnce parts,
// before PutDocuments writes the rest with the file itself. Until then the file is
// FileProcessing and has no hash, so that the next upsert reads it again after a crash:
// a reader, or a crash, in between finds the old parts, the new ones or neither.
func (s *Store) putAhead(ctx context.Context, d *Document, ahead partsAhead) error {
	stale, changed := ahead.stale, ahead.changed
	if len(d.Chunks) <= partsAtOnce || len(stale)+len(changed) <= partsAtOnce {
		return nil
	}
	for part := range slices.Chunk(stale, partsAtOnce) {
		if err := s.writePart(ctx, d, func(w *writer, _ placed) error {
			for _, rec := range part {
				if err := w.remove(ctx, resources, rec); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(changed, partsAtOnce) {
		if err := s.writePart(ctx, d, func(w *writer, file placed) error {
			for _, rec := range part {
				rec.(*Resource).FileID = file.id
			}
			return w.putParts(ctx, d, resources, part, nil)
		}); err != nil {
			return err
		}
		s.grew(ctx, len(part))
	}
	return nil
}

// writePart runs fn in a transaction that finds or makes the file unfinished.
func (s *Store) writePart(ctx context.Context, d *Document, fn func(w *writer, file placed) error) error {
	return s.writing(ctx, "store a part of a document", func(w *writer) error {
		p, err := w.unfinished(ctx, d.File)
		if err != nil {
			return err
		}
		d.Written = true
		return fn(w, p)
	})
}

// unfinished sets the file to FileProcessing, unless it is.
func (w *writer) unfinished(ctx context.Context, f *File) (placed, error) {
	owner := w.by.owner(f.Shared)
	p, err := files.place(ctx, w.c, w.store.dialect.lock(), w.by, owner, f)
	if err != nil {
		return p, err
	}
	if p.live && p.old.(*File).Status == FileProcessing {
		return p, nil
	}
	row := *f
	row.Status, row.Hash, row.ParsedContent, row.ParsedOutput = FileProcessing, "", "", nil
	return p, w.replace(ctx, files, p, &row, owner)
}

// compareParts returns the chunks that are stored and not in the document any
// more, and those of the document that are not stored as they are. A chunk with
// the name of a file's that is not among own is ErrConflict.
func (w *writer) compareParts(ctx context.Context, d *Document, own []string) (stale, changed []record, err error) {
	p, err := w.placeFile(ctx, d)
	if err != nil {
		return nil, nil, err
	}
	chunks := make(map[string]*Resource, len(d.Chunks))
	for _, x := range d.Chunks {
		x.FileID = p.id
		chunks[x.Name] = x
	}
	same := make(map[string]bool, len(d.Chunks))
	if p.old != nil {
		if err := resources.parts(ctx, w.c, w.by.TenantID, p.id, func(rec record) {
			if x := chunks[rec.entry().name]; x == nil {
				stale = append(stale, rec)
			} else {
				same[x.Name] = sameRow(x, rec)
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	var added []string
	for _, x := range d.Chunks {
		as, stored := same[x.Name]
		if !stored {
			added = append(added, x.Name)
		}
		if !as {
			changed = append(changed, x)
		}
	}
	if d.Ontology != nil {
		if err := w.refuseForeign(ctx, d, ontologies, own, []string{d.Ontology.Name}); err != nil {
			return nil, nil, err
		}
	}
	return stale, changed, w.refuseForeign(ctx, d, resources, own, added)
}

// placeFile finds the stored file of a document, without a lock.
func (w *writer) placeFile(ctx context.Context, d *Document) (placed, error) {
	return files.place(ctx, w.c, "", w.by, w.by.owner(d.File.Shared), d.File)
}

// refuseForeign returns ErrConflict when a live row of the table that was made of a file not
// among own has one of the names.
func (w *writer) refuseForeign(ctx context.Context, d *Document, t *table, own, names []string) error {
	for part := range slices.Chunk(names, maxFilter) {
		q := newQuery(t.selects)
		q.add(`tenant_id = `).arg(w.by.TenantID)
		q.owned(w.by.owner(d.File.Shared))
		q.add(` AND deleted_at IS NULL`)
		for _, id := range own {
			q.add(` AND file_id <> `).arg(id)
		}
		q.in(w.store.dialect, "name", part)
		q.add(` LIMIT 1`)
		rec, err := t.first(ctx, w.c, q)
		if err != nil {
			return err
		}
		if rec != nil && fileOf(rec) != "" {
			return foreign(t, rec.entry().name, d)
		}
	}
	return nil
}

// removeAhead deletes most parts of a large file, before the file and the rest go
// in one transaction. After a crash in between, the file is FileProcessing: to delete it
// again, or to put it again, finishes the work.
func (s *Store) removeAhead(ctx context.Context, nameOrID string) error {
	for more := true; more; {
		if err := s.writing(ctx, "delete a part of a file", func(w *writer) error {
			more = false
			found, err := w.named(ctx, files, nameOrID)
			if err != nil {
				return err
			}
			id := *found.place().id
			q := newQuery(resources.selects)
			q.args = []any{w.by.TenantID, id}
			q.add(`tenant_id = $1 AND file_id = $2 AND deleted_at IS NULL LIMIT `).arg(partsAtOnce + 1)
			var part []record
			if err := resources.read(ctx, w.c, q, func(rec record) error {
				part = append(part, rec)
				return nil
			}); err != nil {
				return err
			}
			if more = len(part) > partsAtOnce; !more {
				return nil
			}
			if _, err := w.unfinished(ctx, found.(*File)); err != nil {
				return err
			}
			for _, rec := range part {
				if err := w.remove(ctx, resources, rec); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
