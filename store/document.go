package store

import "context"

// PutDocuments writes files with their ontologies and chunks, in one transaction. It
// replaces the caller's file, or the shared one, of the same URI, sets FileID, Ordinal
// and owner of the chunks, and deletes the stored chunks whose names the document does
// not have. It does not touch rows that are equal to the stored ones, so that storing a
// document again writes nothing; Written reports whether anything was written. Most
// parts of a document with more than 500 are written before, in transactions of 500.
//
// If another file has a chunk or an ontology of the same name, PutDocuments returns
// ErrConflict and writes nothing. The one exception: if only the keys of two names are
// equal ("Part 1", "part-1"), and the call has a document of more than 500 parts, that
// document may be written in part; its file is FileProcessing until it is put again.
func (s *Store) PutDocuments(ctx context.Context, docs ...*Document) error {
	for _, d := range docs {
		if err := d.check(); err != nil {
			return missingFirst(ctx, err)
		}
	}
	ahead, err := s.comparePartsAhead(ctx, docs)
	if err != nil {
		return err
	}
	for i, d := range docs {
		d.Written = false
		if err := s.putAhead(ctx, d, ahead[i]); err != nil {
			return err
		}
	}
	err = s.writing(ctx, "store documents", func(w *writer) error {
		for _, d := range docs {
			if err := w.putDocument(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range docs {
		if d.Written && len(d.Chunks) <= partsAtOnce {
			s.grew(ctx, len(d.Chunks)+1)
		}
	}
	return nil
}

// grew tells the engine that rows of knowledge were written.
func (s *Store) grew(ctx context.Context, rows int) {
	if g, ok := s.engine.(Grower); ok {
		g.Grew(ctx, rows)
	}
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
	owner := w.by.owner(d.File.Shared)
	p, err := files.place(ctx, w.c, w.store.dialect.lock(), w.by, owner, d.File)
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
	// The stale rows first: new rows may have their keys.
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

// removeStale deletes the file's rows that the document has no more, and returns the
// others by name.
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
	if err := t.parts(ctx, w.c, w.by.TenantID, p.id, func(rec record) {
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
