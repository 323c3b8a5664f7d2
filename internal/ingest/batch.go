package ingest

import (
	"context"
	"errors"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// The bounds of a transaction: files, and bytes of chunks. They are large enough to
// share the cost of a commit and small enough to hold in memory.
const (
	batchFiles = 64
	batchBytes = 4 << 20
)

// batch collects documents and writes them together.
type batch struct {
	*run
	waiting []*made
	bytes   int
	// again has the files whose name another file has; it may be free at the end.
	again []*made
}

// add adds the rows of a file. Schemas and rows of tables are written at once, before
// the file row that records them.
func (b *batch) add(ctx context.Context, m *made) error {
	if m.schema != nil {
		return b.schema(ctx, m)
	}
	if m.rows != nil && !b.dry {
		if err := b.putRows(ctx, m.rows); err != nil {
			return b.refused(m, err)
		}
	}
	b.waiting = append(b.waiting, m)
	for _, c := range m.doc.Chunks {
		b.bytes += len(c.Content)
	}
	if m.doc.Ontology != nil {
		b.bytes += len(m.doc.Ontology.Content)
	}
	if len(b.waiting) >= batchFiles || b.bytes >= batchBytes {
		return b.flush(ctx)
	}
	return nil
}

// schema writes an agent's document unless the same one is stored.
func (b *batch) schema(ctx context.Context, m *made) error {
	old, err := b.Store.Documents.Schema(ctx, m.schema.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	id, none := identity.From(ctx)
	if none != nil {
		return none
	}
	// Documents of anonymous callers are shared.
	shared := m.schema.Shared || id.Anonymous()
	same := err == nil && old.Hash == m.schema.Hash && old.Origin == m.schema.Origin &&
		(old.UserID == "") == shared && old.Source == m.schema.Source
	if same {
		m.result.Status = Unchanged
	} else if !b.dry {
		if err := b.Store.Documents.PutSchema(ctx, m.schema); err != nil {
			return b.refused(m, err)
		}
	}
	b.finish(m.result, m.size)
	return nil
}

// flush writes the batch in one transaction. If the store refuses it, flush writes file by
// file, to find the refused one.
func (b *batch) flush(ctx context.Context) error {
	waiting := b.waiting
	b.waiting, b.bytes = nil, 0
	if len(waiting) == 0 {
		return nil
	}
	docs := make([]*store.Document, len(waiting))
	for i, m := range waiting {
		docs[i] = m.doc
	}
	if !b.dry {
		err := b.Store.Documents.PutDocuments(ctx, docs...)
		if refusal(err) {
			for _, m := range waiting {
				if err := b.single(ctx, m, true); err != nil {
					return err
				}
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	for _, m := range waiting {
		b.written(m)
	}
	return nil
}

// single writes one file. If another file has its name, it is written again at the end,
// when the other file may have a new name.
func (b *batch) single(ctx context.Context, m *made, retry bool) error {
	err := b.Store.Documents.PutDocuments(ctx, m.doc)
	switch {
	case err == nil:
		b.written(m)
		return nil
	case retry && errors.Is(err, store.ErrConflict):
		b.again = append(b.again, m)
		return nil
	case m.rows == nil && errors.Is(err, store.ErrConflict):
		b.collided = err
	}
	return b.refused(m, err)
}

// end writes the remaining files.
func (b *batch) end(ctx context.Context) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	for _, m := range b.again {
		if err := b.single(ctx, m, false); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) written(m *made) {
	m.result.FileID = m.doc.File.ID
	for _, c := range m.doc.Chunks {
		m.result.ResourceIDs = append(m.result.ResourceIDs, c.ID)
	}
	b.finish(m.result, m.size)
}

// refused reports a file that the store refuses; any other error ends the run.
func (b *batch) refused(m *made, err error) error {
	if !refusal(err) {
		return err
	}
	b.finish(Result{Path: m.result.Path, Status: Failed, Reason: err.Error(), Key: m.result.Key}, m.size)
	return nil
}

// refusal reports whether an error is about the written rows rather than the store.
func refusal(err error) bool {
	return errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) ||
		errors.Is(err, store.ErrForbidden)
}
