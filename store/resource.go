package store

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"p8/identity"
)

const resourceColumns = `id, name, uri, ordinal, content, category, user_id, tenant_id, graph_edges, tags, metadata,
	created_at, updated_at`

func scanResource(r Row, x *Resource) error {
	var edges, tags json.RawMessage
	if err := r.Scan(&x.ID, &x.Name, &x.URI, &x.Ordinal, &x.Content, &x.Category, &x.UserID, &x.TenantID, &edges, &tags,
		&x.Metadata, &x.CreatedAt, &x.UpdatedAt); err != nil {
		return err
	}
	x.Shared = x.UserID == ""
	if err := decode(edges, &x.GraphEdges); err != nil {
		return err
	}
	return decode(tags, &x.Tags)
}

// PutResources writes pieces of knowledge in one transaction, for the caller,
// or for everybody of the tenant when Shared (an anonymous caller's rows always
// are). A row of the same name and owner, even a deleted one, is replaced and
// keeps its id and created_at; with an ID, the row of that id is replaced, and
// renamed. Ids, owners and times are set. A name whose key another resource of
// the owner has is ErrConflict, and nothing is written.
func (s *Store) PutResources(ctx context.Context, rs ...*Resource) error {
	for _, x := range rs {
		if err := x.check(); err != nil {
			return missingFirst(ctx, err)
		}
	}
	var changes []change
	err := s.write(ctx, "store resources", func(c Conn, sc scope) error {
		now := s.clock()
		for _, x := range rs {
			if err := x.put(ctx, c, sc, now); err != nil {
				return err
			}
			changes = append(changes, change{sc.TenantID, x.UserID, TypeResource, x.ID})
		}
		return nil
	})
	s.fuzzy.changed(changes...)
	return err
}

func (x *Resource) put(ctx context.Context, c Conn, sc scope, now time.Time) error {
	owner := sc.owner(x.Shared)
	p, err := resourcesTable.place(ctx, c, sc, x.Shared, x.ID, x.Name)
	if err != nil {
		return err
	}
	if !p.exists {
		p.created = now
	}
	if _, err := c.Exec(ctx, `INSERT INTO resources
		(tenant_id, id, user_id, name, uri, ordinal, content, category, graph_edges, tags, metadata, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, uri = excluded.uri, ordinal = excluded.ordinal,
		content = excluded.content, category = excluded.category, graph_edges = excluded.graph_edges, tags = excluded.tags,
		metadata = excluded.metadata, updated_at = excluded.updated_at, deleted_at = NULL`,
		sc.TenantID, p.id, owner, x.Name, null(x.URI), x.Ordinal, x.Content, null(x.Category),
		encodeList(x.GraphEdges), encodeList(x.Tags), x.Metadata, p.created, now); err != nil {
		return err
	}
	x.ID, x.CreatedAt, x.UpdatedAt, x.TenantID = p.id, p.created, now, sc.TenantID
	x.UserID, _ = owner.(string)
	x.Shared = owner == nil
	return putKey(ctx, c, sc.TenantID, owner, entry{
		entity: TypeResource, id: x.ID, name: x.Name, metadata: x.Metadata, edges: x.GraphEdges,
		summary: cmp.Or(x.Content, x.Name),
	}, now)
}

func (x *Resource) check() error {
	if _, err := checkKey(x.Name); err != nil {
		return err
	}
	if err := cleanTexts("uri", &x.URI, "content", &x.Content, "category", &x.Category); err != nil {
		return err
	}
	return checkObject("metadata", x.Metadata)
}

// Resource is a resource that the caller may read.
func (s *Store) Resource(ctx context.Context, id string) (Resource, error) {
	var x Resource
	err := s.read(ctx, "read resource", func(c Conn, sc scope) error {
		found := false
		err := c.Query(ctx, `SELECT `+resourceColumns+` FROM resources WHERE `+visible+` AND id = $4
			ORDER BY `+nearness+` LIMIT 1`, func(r Row) error {
			found = true
			return scanResource(r, &x)
		}, sc.TenantID, sc.user, identity.SystemTenant, id)
		if err == nil && !found {
			err = notFound("resource", id)
		}
		return err
	})
	return x, err
}

// DeleteResource hides the caller's own resource of that id or name, else its
// tenant's shared one, and removes its key.
func (s *Store) DeleteResource(ctx context.Context, nameOrID string) error {
	return s.deleteKeyed(ctx, resourcesTable, nameOrID)
}

func (s *Store) deleteKeyed(ctx context.Context, k keyed, nameOrID string) error {
	var ch change
	err := s.write(ctx, "delete "+k.entity, func(c Conn, sc scope) error {
		id, owner, err := k.delete(ctx, c, sc, nameOrID, s.clock())
		ch = change{sc.TenantID, owner, k.entity, id}
		return err
	})
	s.fuzzy.changed(ch)
	return err
}

func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// encodeList is a list as JSON, [] for none.
func encodeList[T any](list []T) json.RawMessage {
	if len(list) == 0 {
		return json.RawMessage("[]")
	}
	return encode(list)
}

// decode reads a JSON list; an empty one stays nil.
func decode[T any](raw json.RawMessage, list *[]T) error {
	if len(raw) == 0 || string(raw) == "[]" {
		return nil
	}
	return json.Unmarshal(raw, list)
}
