package store

import (
	"context"
	"slices"
)

// maxSummary is how much of a row FUZZY searches, in characters.
const maxSummary = 500

// putKey writes the key of a row, and removes the one it had under another
// name. Two rows of one owner and type cannot have the same key.
func (w *writer) putKey(ctx context.Context, t *table, p placed, rec record) error {
	if !t.Keyed {
		return nil
	}
	renamed := p.live && NormalizeKey(p.old.entry().name) != NormalizeKey(rec.entry().name)
	if renamed {
		if err := dropKey(ctx, w.c, w.by.TenantID, t.Type, p.id); err != nil {
			return err
		}
	}
	k, written, err := writeKey(ctx, w.c, t, w.by.TenantID, w.by.seal, rec)
	if err == nil && !written {
		err = conflictf("another %s has the key %q", t.Type, k.key)
	}
	if err != nil {
		return err
	}
	edges := rec.entry().edges
	switch {
	case !p.live || renamed:
		return addEdges(ctx, w.c, w.store.dialect, k, edges)
	case slices.Equal(p.old.entry().edges, edges):
		return nil
	}
	return replaceEdges(ctx, w.c, w.store.dialect, k, edges)
}

// writeKey writes a record's key, unless another row of its owner and type has
// it; the caller indexes its edges.
func writeKey(ctx context.Context, c Conn, t *table, tenant string, by *tenantSeal, rec record) (k keyOf, written bool, err error) {
	at, e := rec.place(), rec.entry()
	k = keyOf{tenant: tenant, owner: keyOwner(t, *at.user), entity: t.Type, id: *at.id}
	if k.key, err = checkKey(e.name); err != nil {
		return k, false, err
	}
	n, err := c.Exec(ctx, `INSERT INTO kv_store
		(tenant_id, owner, entity_key, entity_type, entity_id, content_summary, metadata, graph_edges, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (tenant_id, owner, entity_key, entity_type) DO UPDATE SET content_summary = excluded.content_summary,
		metadata = excluded.metadata, graph_edges = excluded.graph_edges, updated_at = excluded.updated_at
		WHERE kv_store.entity_id = excluded.entity_id`,
		tenant, k.owner, k.key, t.Type, *at.id, by.value("content_summary", summarize(e.summary)), by.value("metadata", e.metadata), by.value("graph_edges", encodeList(e.edges)), *at.updated)
	return k, n > 0, err
}

// dropKey removes the key of a row and its edges.
func dropKey(ctx context.Context, c Conn, tenant, entity, id string) error {
	if err := dropEdges(ctx, c, tenant, entity, id); err != nil {
		return err
	}
	_, err := c.Exec(ctx, `DELETE FROM kv_store WHERE tenant_id = $1 AND entity_type = $2 AND entity_id = $3`, tenant, entity, id)
	return err
}

// summarize returns the part of a text that FUZZY searches.
func summarize(s string) string { return clip(s, maxSummary) }
