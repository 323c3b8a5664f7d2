package store

import (
	"context"
	"strings"
)

// eraseBatch is how many rows of a table one transaction deletes.
const eraseBatch = 200

// Step deletes some rows of the caller in one transaction and returns their number, 0 if no
// row is left. It may be called at any time, also by several processes at once; the rows
// that the caller wrote for the whole tenant stay.
func (all Erasures) Step(ctx context.Context) (deleted int64, err error) {
	by, err := person(ctx)
	if err != nil {
		return 0, err
	}
	for _, h := range personal() {
		w := &eraser{store: all.store, by: by}
		err := all.store.Maintenance().write(ctx, "delete rows of a user", func(c Conn) (err error) {
			w.c, w.changes = c, nil
			deleted, err = w.step(ctx, &h)
			return w.count(ctx, deleted, err)
		})
		all.store.announce(w.changes, false)
		if err != nil || deleted > 0 {
			return deleted, err
		}
	}
	err = all.store.Maintenance().write(ctx, "delete what is left of a user", func(c Conn) (err error) {
		w := &eraser{store: all.store, by: by, c: c}
		deleted, err = w.sweep(ctx)
		return w.count(ctx, deleted, err)
	})
	return deleted, err
}

// eraser is a transaction that deletes rows of a user.
type eraser struct {
	store   *Store
	c       Conn
	by      caller
	changes []change
	// aged makes it delete old rows instead, of anonymous callers and of the tenant, too.
	aged bool
}

// whose returns the condition of the rows that w may delete, and its parameters.
func (w *eraser) whose(h *Holding) (string, []any) {
	d := w.store.dialect
	switch {
	case !w.aged, h.parent != "":
		return h.owner(d), h.args(w.by)
	case h.Table == sessions.Name:
		return `tenant_id = $1 AND ` + d.ownerOf(``) + ` = $2`, h.args(w.by)
	case h.Table == "session_shares":
		return `tenant_id = $1 AND owner = $2`, h.args(w.by)
	case w.by.user == nil:
		return `tenant_id = $1 AND user_id IS NULL`, []any{w.by.TenantID}
	}
	return `tenant_id = $1 AND user_id = $2`, h.args(w.by)
}

// rows begins a statement about the rows that w may delete.
func (w *eraser) rows(verb string, h *Holding) *query {
	where, args := w.whose(h)
	q := newQuery(verb + ` FROM ` + h.Table + ` WHERE ` + where)
	q.args = args
	return q
}

// count adds the deleted rows to the erasure.
func (w *eraser) count(ctx context.Context, n int64, err error) error {
	if err != nil || n == 0 {
		return err
	}
	_, err = w.c.Exec(ctx, `UPDATE erasures SET deleted = deleted + $3 WHERE tenant_id = $1 AND user_id = $2 AND finished_at IS NULL`,
		w.by.TenantID, w.by.UserID, n)
	return err
}

// step deletes rows of a table with a user.
func (w *eraser) step(ctx context.Context, h *Holding) (deleted int64, err error) {
	if !h.has("id") { // one row
		q := w.rows(`DELETE`, h)
		return w.c.Exec(ctx, q.String(), q.args...)
	}
	return w.some(ctx, h, w.rows(`SELECT id`, h))
}

// some deletes the first of the rows that a query finds: what belongs to them first.
func (w *eraser) some(ctx context.Context, h *Holding, q *query) (deleted int64, err error) {
	q.add(` LIMIT `).arg(eraseBatch)
	ids, err := w.texts(ctx, q.add(w.store.dialect.lock()).String(), q.args...)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	for _, b := range h.below {
		if deleted, err := w.parts(ctx, &b, ids); err != nil || deleted > 0 {
			return deleted, err
		}
	}
	if t := tableNamed(h.Table); t != nil {
		if !w.aged { // the links of the tenant's rows stay, as when a user deletes a row
			if unlinked, err := w.unlink(ctx, t, ids); err != nil || unlinked > 0 {
				return unlinked, err
			}
		}
		if err := w.indexes(ctx, t, ids); err != nil {
			return 0, err
		}
	}
	return w.delete(ctx, h, ids)
}

// delete deletes rows by their ids.
func (w *eraser) delete(ctx context.Context, h *Holding, ids []string) (int64, error) {
	q := w.rows(`DELETE`, h)
	q.in(w.store.dialect, "id", ids)
	return w.c.Exec(ctx, q.String(), q.args...)
}

// parts deletes rows that belong to rows above.
func (w *eraser) parts(ctx context.Context, h *Holding, above []string) (int64, error) {
	q := newQuery(` FROM ` + h.Table + ` WHERE ` + h.owner(w.store.dialect))
	q.args = h.args(w.by)
	q.in(w.store.dialect, h.parent, above)
	q.add(` LIMIT `).arg(eraseBatch)
	if h.Table == messages.Name {
		ids, err := w.texts(ctx, `SELECT id`+q.String(), q.args...)
		if err == nil && len(ids) > 0 {
			err = w.words(ctx, messages, ids)
		}
		if err != nil || len(ids) == 0 {
			return 0, err
		}
		return w.delete(ctx, h, ids)
	}
	key := h.parent + `, ` + strings.Join(h.order, `, `)
	return w.c.Exec(ctx, `DELETE FROM `+h.Table+` WHERE `+h.owner(w.store.dialect)+` AND (`+key+`) IN (SELECT `+key+q.String()+`)`, q.args...)
}

// indexes deletes what was made from rows: vectors, keys, edges and words.
func (w *eraser) indexes(ctx context.Context, t *table, ids []string) error {
	deletes := []struct{ from, column, value string }{
		{"embeddings", "table_name", t.Name}, {"embedding_queue", "table_name", t.Name},
		{"kv_edges", "entity_type", t.Type}, {"kv_store", "entity_type", t.Type},
	}
	for _, x := range deletes {
		q := newQuery(`DELETE FROM ` + x.from + ` WHERE tenant_id = `)
		q.arg(w.by.TenantID)
		q.add(` AND ` + x.column + ` = `).arg(x.value)
		q.in(w.store.dialect, "entity_id", ids)
		if _, err := w.c.Exec(ctx, q.String(), q.args...); err != nil {
			return err
		}
	}
	for _, id := range ids {
		w.changes = append(w.changes, change{w.by.TenantID, keyOwner(t, w.by.UserID), t.Type, id})
	}
	return w.words(ctx, t, ids)
}

// words removes rows from the index of words.
func (w *eraser) words(ctx context.Context, t *table, ids []string) error {
	ix, ok := w.store.engine.(TextIndexer)
	if !ok {
		return nil
	}
	return ix.DeleteTexts(ctx, w.c, w.by.TenantID, t.Name, ids)
}

// sweep deletes what names the user without one of the rows above, and the name of the user
// as the author of rows that stay.
func (w *eraser) sweep(ctx context.Context) (deleted int64, err error) {
	statements := []string{
		`DELETE FROM kv_edges WHERE tenant_id = $1 AND owner = $2`,
		`DELETE FROM kv_edges_waiting WHERE tenant_id = $1 AND owner = $2`,
		`DELETE FROM kv_store WHERE tenant_id = $1 AND owner = $2`,
		`DELETE FROM leases WHERE tenant_id = $1 AND user_id = $2`,
		`UPDATE schema_timemachine SET user_id = NULL WHERE tenant_id = $1 AND user_id = $2`,
		`UPDATE api_keys SET created_by = NULL WHERE tenant_id = $1 AND created_by = $2`,
		`UPDATE accounts SET created_by = NULL WHERE tenant_id = $1 AND created_by = $2`,
	}
	for _, t := range tables {
		if t.EmbeddingField != "" && t != manual {
			statements = append(statements, `DELETE FROM embeddings WHERE tenant_id = $1 AND table_name = '`+t.Name+`' AND user_id = $2`)
		}
	}
	for _, table := range []string{"messages", "runs"} { // of a guest in sessions of others
		n, err := w.c.Exec(ctx, `UPDATE `+table+` SET author = $3 WHERE tenant_id = $1 AND id IN
			(SELECT id FROM `+table+` WHERE tenant_id = $1 AND author = $2 LIMIT $4)`, w.by.TenantID, w.by.UserID, anonymousOwner, eraseBatch)
		if err != nil {
			return deleted, err
		}
		deleted += n
	}
	for _, sql := range statements {
		n, err := w.c.Exec(ctx, sql, w.by.TenantID, w.by.UserID)
		if err != nil {
			return deleted, err
		}
		deleted += n
	}
	if ix, ok := w.store.engine.(TextIndexer); ok {
		return deleted, ix.DropTexts(ctx, w.c, RowOwner{w.by.TenantID, w.by.UserID})
	}
	return deleted, nil
}

// texts reads a column of texts.
func (w *eraser) texts(ctx context.Context, sql string, args ...any) (list []string, err error) {
	err = w.c.Query(ctx, sql, func(r Row) error {
		var s string
		err := r.Scan(&s)
		list = append(list, s)
		return err
	}, args...)
	return list, err
}
