package store

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/identity"
)

// unlink removes the edges of shared rows that lead to these rows alone, and counts the
// shared rows. The edges of another user's rows never lead to them.
func (w *eraser) unlink(ctx context.Context, t *table, ids []string) (int64, error) {
	if !t.Keyed {
		return 0, nil
	}
	q := newQuery(`SELECT DISTINCT target_key FROM kv_edges WHERE tenant_id = `)
	q.arg(w.by.TenantID)
	q.add(` AND owner = '' AND target_key IN (SELECT entity_key FROM kv_store WHERE tenant_id = `).arg(w.by.TenantID)
	q.add(` AND entity_type = `).arg(t.Type)
	q.in(w.store.dialect, "entity_id", ids)
	keys, err := w.texts(ctx, q.add(`)`).String(), q.args...)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	q = newQuery(`SELECT DISTINCT entity_key FROM kv_store WHERE tenant_id IN (`)
	q.arg(w.by.TenantID)
	q.add(`, `).arg(identity.SystemTenant)
	q.add(`) AND owner <> `).arg(w.by.UserID)
	q.in(w.store.dialect, "entity_key", keys)
	others, err := w.texts(ctx, q.String(), q.args...)
	keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(others, key) })
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	type linking struct{ entity, id string }
	var rows []linking
	q = newQuery(`SELECT DISTINCT entity_type, entity_id FROM kv_edges WHERE tenant_id = `)
	q.arg(w.by.TenantID)
	q.add(` AND owner = ''`)
	q.in(w.store.dialect, "target_key", keys)
	q.add(` LIMIT `).arg(eraseBatch)
	if err := w.c.Query(ctx, q.String(), func(r Row) error {
		var x linking
		err := r.Scan(&x.entity, &x.id)
		rows = append(rows, x)
		return err
	}, q.args...); err != nil {
		return 0, err
	}
	for _, x := range rows {
		if err := w.cut(ctx, x.entity, x.id, keys); err != nil {
			return 0, err
		}
	}
	return int64(len(rows)), nil
}

// cut removes the edges to keys from a shared row.
func (w *eraser) cut(ctx context.Context, entity, id string, keys []string) error {
	if t := tableOf(entity); t != nil {
		var raw json.RawMessage
		if _, err := one(ctx, w.c, `SELECT graph_edges FROM `+t.Name+` WHERE tenant_id = $1 AND id = $2`+w.store.dialect.lock(),
			[]any{&raw}, w.by.TenantID, id); err != nil {
			return err
		}
		var edges []Edge
		if err := decode(raw, &edges); err != nil {
			return err
		}
		left := w.by.seal.value("graph_edges", encodeList(slices.DeleteFunc(edges, func(e Edge) bool { return slices.Contains(keys, NormalizeKey(e.Target)) })))
		if _, err := w.c.Exec(ctx, `UPDATE `+t.Name+` SET graph_edges = $3 WHERE tenant_id = $1 AND id = $2`, w.by.TenantID, id, left); err != nil {
			return err
		}
		if _, err := w.c.Exec(ctx, `UPDATE kv_store SET graph_edges = $4 WHERE tenant_id = $1 AND entity_type = $2 AND entity_id = $3`,
			w.by.TenantID, entity, id, left); err != nil {
			return err
		}
	}
	q := newQuery(`DELETE FROM kv_edges WHERE tenant_id = `)
	q.arg(w.by.TenantID)
	q.add(` AND entity_type = `).arg(entity)
	q.add(` AND entity_id = `).arg(id)
	q.in(w.store.dialect, "target_key", keys)
	_, err := w.c.Exec(ctx, q.String(), q.args...)
	return err
}
