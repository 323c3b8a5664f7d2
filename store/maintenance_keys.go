package store

import "context"

// rebuildBatch is how many rows one transaction of RebuildKeys reads.
const rebuildBatch = 200

// RebuildKeys rebuilds the key index of all tenants from the rows and counts the keys, in
// many small transactions. It may run beside any other work: a live row keeps its key.
// If two rows have one key, which only a change of NormalizeKey can cause, the row in
// the index keeps it.
func (m Maintenance) RebuildKeys(ctx context.Context) (written int64, err error) {
	defer m.store.fuzzy.Reset()
	if err := m.sweepKeys(ctx); err != nil {
		return 0, err
	}
	for _, t := range tables {
		if !t.Keyed {
			continue
		}
		n, err := m.rebuildTable(ctx, t)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// sweepKeys removes the keys that no live row has.
func (m Maintenance) sweepKeys(ctx context.Context) error {
	// The last key of the batch before.
	var tenant, owner, key, entity string
	type held struct{ tenant, owner, key, entity, id string }
	for n := rebuildBatch; n == rebuildBatch; {
		var batch []held
		if err := m.write(ctx, "sweep the key index", func(c Conn) error {
			batch = nil
			if err := c.Query(ctx, `SELECT tenant_id, owner, entity_key, entity_type, entity_id FROM kv_store
				WHERE (tenant_id, owner, entity_key, entity_type) > ($1, $2, $3, $4)
				ORDER BY tenant_id, owner, entity_key, entity_type LIMIT $5`, func(r Row) error {
				var h held
				err := r.Scan(&h.tenant, &h.owner, &h.key, &h.entity, &h.id)
				batch = append(batch, h)
				return err
			}, tenant, owner, key, entity, rebuildBatch); err != nil {
				return err
			}
			for _, h := range batch {
				t := tableOf(h.entity)
				if t == nil {
					continue // of a newer program
				}
				var name, user string
				live, err := one(ctx, c, `SELECT name, user_id FROM `+t.Name+` WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`+
					m.store.dialect.lock(), []any{&name, &user}, h.tenant, h.id)
				if err != nil {
					return err
				}
				if live && t.Keyed && NormalizeKey(name) == h.key && keyOwner(t, user) == h.owner {
					continue
				}
				if err := dropEdges(ctx, c, h.tenant, h.entity, h.id); err != nil {
					return err
				}
				if _, err := c.Exec(ctx, `DELETE FROM kv_store
					WHERE tenant_id = $1 AND owner = $2 AND entity_key = $3 AND entity_type = $4`, h.tenant, h.owner, h.key, h.entity); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if n = len(batch); n > 0 {
			last := batch[n-1]
			tenant, owner, key, entity = last.tenant, last.owner, last.key, last.entity
		}
	}
	return nil
}

// rebuildTable writes the keys of a table's live rows.
func (m Maintenance) rebuildTable(ctx context.Context, t *table) (written int64, err error) {
	// The last row of the batch before.
	var tenant, id string
	type live struct {
		tenant string
		record
	}
	for n := rebuildBatch; n == rebuildBatch; {
		var batch []live
		var keys int64
		err = m.write(ctx, "rebuild the key index", func(c Conn) error {
			batch, keys = nil, 0
			q := newQuery(t.selects)
			q.args = []any{tenant, id, rebuildBatch}
			q.add(`(tenant_id, id) > ($1, $2) AND deleted_at IS NULL ORDER BY tenant_id, id LIMIT $3` + m.store.dialect.lock())
			var f fields
			if err := c.Query(ctx, q.String(), func(r Row) error {
				rec := t.new()
				err := f.scan(r, rec)
				batch = append(batch, live{f.tenant, rec})
				return err
			}, q.args...); err != nil {
				return err
			}
			for _, x := range batch {
				k, ok, err := writeKey(ctx, c, t, x.tenant, m.store.seals.peek(x.tenant), x.record)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				if err := replaceEdges(ctx, c, m.store.dialect, k, x.entry().edges); err != nil {
					return err
				}
				keys++
			}
			return nil
		})
		if err != nil {
			return written, err
		}
		written += keys
		if n = len(batch); n > 0 {
			tenant, id = batch[n-1].tenant, *batch[n-1].place().id
		}
	}
	return written, nil
}
