package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// putText indexes the words of a row's text and, if the text has changed, queues it for a
// new vector. Until then searches use the old vector. A row without a text has no vector.
func (w *writer) putText(ctx context.Context, t *table, p placed, rec record) error {
	if t.text < 0 {
		return nil
	}
	at, text := rec.place(), t.embedded(rec)
	it := IndexedText{TenantID: w.by.TenantID, Owner: *at.user, Table: t.Name, ID: p.id}
	if err := w.store.putText(ctx, w.c, it, rec.entry(), text); err != nil {
		return err
	}
	old := ""
	if p.live {
		old = t.embedded(p.old)
	}
	switch {
	case text == old:
		return nil
	case text == "":
		return dropVectors(ctx, w.c, t, w.by.TenantID, p.id)
	}
	w.queued = true
	return queueText(ctx, w.c, t, w.by.TenantID, p.id, w.now)
}

// dropText deletes the words and the vectors of a row.
func (w *writer) dropText(ctx context.Context, t *table, id string) error {
	if t.text < 0 {
		return nil
	}
	if err := w.store.dropText(ctx, w.c, IndexedText{TenantID: w.by.TenantID, Table: t.Name, ID: id}); err != nil {
		return err
	}
	return dropVectors(ctx, w.c, t, w.by.TenantID, id)
}

// queueText queues the text of a row for a vector. It replaces the row's waiting task.
func queueText(ctx context.Context, c Conn, t *table, tenant, id string, now time.Time) error {
	_, err := c.Exec(ctx, `INSERT INTO embedding_queue
		(tenant_id, table_name, entity_id, field_name, revision, attempts, due_at, created_at)
		VALUES ($1, $2, $3, $4, $5, 0, $6, $6)
		ON CONFLICT (tenant_id, table_name, entity_id, field_name) DO UPDATE SET attempts = 0, error = NULL,
		due_at = excluded.due_at, created_at = excluded.created_at, revision = CASE
		WHEN excluded.revision > embedding_queue.revision THEN excluded.revision ELSE embedding_queue.revision + 1 END`,
		tenant, t.Name, id, t.EmbeddingField, now.UnixMicro(), now)
	return err
}

func dropVectors(ctx context.Context, c Conn, t *table, tenant, id string) error {
	if _, err := c.Exec(ctx, `DELETE FROM embedding_queue WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3`,
		tenant, t.Name, id); err != nil {
		return err
	}
	_, err := c.Exec(ctx, `DELETE FROM embeddings WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3`, tenant, t.Name, id)
	return err
}

// hash returns the hash of a tenant's text. That of an encrypted tenant needs the key: a short
// text could be guessed by its SHA-256.
func (s *Store) hash(tenant, text string) string {
	if k := s.seals.peek(tenant); k.seals() {
		return hex.EncodeToString(k.key.Digest()("text\n" + text))
	}
	return hashText(text)
}

// hashText returns the SHA-256 of a text, hex.
func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
