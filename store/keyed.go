package store

import (
	"context"
	"encoding/json"
	"time"
)

// The kinds of rows that have a key, as entity_type names them.
const (
	TypeSchema   = "schema"
	TypeResource = "resource"
	TypeUser     = "user"
)

// keyed is a table whose rows are found by key. Schemas and resources are
// written alike: one live row per owner and name, deleted softly, mirrored in
// the key index.
type keyed struct {
	table, entity string
}

var (
	schemasTable   = keyed{"schemas", TypeSchema}
	resourcesTable = keyed{"resources", TypeResource}
)

// placed is the row that a write replaces, or the id of a new one.
type placed struct {
	id, name string
	created  time.Time
	exists   bool
}

// place finds the row to write: the one with the given id (renamed by the
// write), else the owner's row of that name, deleted or not, else none, with
// the deterministic id unless a renamed row still holds it.
func (k keyed) place(ctx context.Context, c Conn, sc scope, shared bool, id, name string) (p placed, err error) {
	owner := sc.owner(shared)
	if id != "" {
		if err := checkID(id); err != nil {
			return p, err
		}
		other, err := k.byID(ctx, c, sc, id, &p)
		if err == nil && p.exists && other != owner {
			err = notFound(k.entity, id)
		}
		p.id = id
		return p, err
	}
	p.exists, err = one(ctx, c, `SELECT id, name, created_at FROM `+k.table+`
		WHERE tenant_id = $1 AND name = $2 AND user_id IS NOT DISTINCT FROM $3
		ORDER BY deleted_at IS NOT NULL, id LIMIT 1`, []any{&p.id, &p.name, &p.created}, sc.TenantID, name, owner)
	if err != nil || p.exists {
		return p, err
	}
	user, _ := owner.(string)
	var taken placed
	p.id = EntityID(k.table, name, user)
	if _, err = k.byID(ctx, c, sc, p.id, &taken); err == nil && taken.exists {
		p.id, err = newID()
	}
	return p, err
}

func (k keyed) byID(ctx context.Context, c Conn, sc scope, id string, p *placed) (owner any, err error) {
	var user string
	p.exists, err = one(ctx, c, `SELECT id, name, created_at, user_id FROM `+k.table+` WHERE tenant_id = $1 AND id = $2`,
		[]any{&p.id, &p.name, &p.created, &user}, sc.TenantID, id)
	return null(user), err
}

// delete hides the caller's own row, else the shared one of its tenant, found
// by id or name, and removes its key.
func (k keyed) delete(ctx context.Context, c Conn, sc scope, nameOrID string, now time.Time) (id, owner string, err error) {
	found, err := byNameOrID(nameOrID, func(column string) (bool, error) {
		return one(ctx, c, `SELECT id, user_id FROM `+k.table+`
			WHERE (tenant_id = $1 AND user_id = $2 OR tenant_id = $1 AND user_id IS NULL) AND deleted_at IS NULL AND `+column+` = $3
			ORDER BY user_id IS NULL LIMIT 1`, []any{&id, &owner}, sc.TenantID, sc.user, nameOrID)
	})
	if err != nil {
		return "", "", err
	}
	if !found {
		return "", "", notFound(k.entity, nameOrID)
	}
	if _, err := c.Exec(ctx, `UPDATE `+k.table+` SET deleted_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2`,
		sc.TenantID, id, now); err != nil {
		return "", "", err
	}
	return id, owner, dropKey(ctx, c, sc.TenantID, k.entity, id)
}

// byNameOrID looks for a row by name and, if there is none and it could be one,
// by id: two statements with an index each rather than one with an OR.
func byNameOrID(nameOrID string, find func(column string) (bool, error)) (bool, error) {
	found, err := find("name")
	if err != nil || found || checkID(nameOrID) != nil {
		return found, err
	}
	return find("id")
}

// visible is the condition of the rows that the caller may read, nearest
// first with nearness: its own, its tenant's shared ones, the system's. It uses
// $1 (tenant), $2 (user) and $3 (identity.SystemTenant).
const (
	visible  = `(tenant_id = $1 AND user_id = $2 OR tenant_id = $1 AND user_id IS NULL OR tenant_id = $3 AND user_id IS NULL) AND deleted_at IS NULL`
	nearness = `CASE WHEN user_id IS NOT NULL THEN 0 WHEN tenant_id = $1 THEN 1 ELSE 2 END`
)

// entry is a row of the key index.
type entry struct {
	entity, id, name, summary string
	metadata                  json.RawMessage
	edges                     []Edge
}

// putKey writes the key of a row, and removes the one it had under another
// name. Two rows of one owner and type cannot have the same key.
func putKey(ctx context.Context, c Conn, tenant string, owner any, e entry, now time.Time) error {
	key, err := checkKey(e.name)
	if err != nil {
		return err
	}
	user, _ := owner.(string)
	if _, err := c.Exec(ctx, `DELETE FROM kv_store
		WHERE tenant_id = $1 AND entity_type = $2 AND entity_id = $3 AND (entity_key <> $4 OR owner <> $5)`,
		tenant, e.entity, e.id, key, user); err != nil {
		return err
	}
	n, err := c.Exec(ctx, `INSERT INTO kv_store
		(tenant_id, owner, entity_key, entity_type, entity_id, content_summary, metadata, graph_edges, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (tenant_id, owner, entity_key, entity_type) DO UPDATE SET content_summary = excluded.content_summary,
		metadata = excluded.metadata, graph_edges = excluded.graph_edges, updated_at = excluded.updated_at
		WHERE kv_store.entity_id = excluded.entity_id`,
		tenant, user, key, e.entity, e.id, summarize(e.summary), e.metadata, encodeList(e.edges), now)
	if err == nil && n == 0 {
		err = conflictf("another %s has the key %q", e.entity, key)
	}
	return err
}

func dropKey(ctx context.Context, c Conn, tenant, entity, id string) error {
	_, err := c.Exec(ctx, `DELETE FROM kv_store WHERE tenant_id = $1 AND entity_type = $2 AND entity_id = $3`, tenant, entity, id)
	return err
}

// summarize keeps the first 500 characters.
func summarize(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}
