package store

import (
	"cmp"
	"context"
	"encoding/json"

	"p8/identity"
)

const schemaColumns = `id, name, kind, version, description, content, json_schema, source, origin, content_hash,
	user_id, tenant_id, tags, metadata, created_at, updated_at`

func scanSchema(r Row, s *Schema) error {
	var tags json.RawMessage
	if err := r.Scan(&s.ID, &s.Name, &s.Kind, &s.Version, &s.Description, &s.Content, &s.JSONSchema, &s.Source,
		&s.Origin, &s.Hash, &s.UserID, &s.TenantID, &tags, &s.Metadata, &s.CreatedAt, &s.UpdatedAt); err != nil {
		return err
	}
	s.Shared = s.UserID == ""
	return decode(tags, &s.Tags)
}

// PutSchema writes a document under its name, for the caller, or for everybody
// of the tenant when Shared (an anonymous caller's rows always are). A row of
// that name, even a deleted one, is replaced and keeps its id and created_at;
// with an ID, the row of that id is replaced, and renamed. Kind "" is agent.
// The row's id, owner and times are set.
//
// A mirror (Origin not "") never replaces a row that a person wrote (Origin
// ""): that is ErrConflict. So is a name whose key another schema of the same
// owner has.
func (s *Store) PutSchema(ctx context.Context, d *Schema) error {
	if err := d.check(); err != nil {
		return missingFirst(ctx, err)
	}
	var ch change
	err := s.write(ctx, "store schema", func(c Conn, sc scope) error {
		now := s.clock()
		owner := sc.owner(d.Shared)
		p, err := schemasTable.place(ctx, c, sc, d.Shared, d.ID, d.Name)
		if err != nil {
			return err
		}
		if !p.exists {
			p.created = now
		}
		n, err := c.Exec(ctx, `INSERT INTO schemas
			(tenant_id, id, user_id, name, kind, version, description, content, json_schema, source, origin, content_hash,
			tags, metadata, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
			ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, kind = excluded.kind, version = excluded.version,
			description = excluded.description, content = excluded.content, json_schema = excluded.json_schema,
			source = excluded.source, origin = excluded.origin, content_hash = excluded.content_hash,
			tags = excluded.tags, metadata = excluded.metadata, updated_at = excluded.updated_at, deleted_at = NULL
			WHERE excluded.origin = '' OR schemas.origin <> '' OR schemas.deleted_at IS NOT NULL`,
			sc.TenantID, p.id, owner, d.Name, d.Kind, null(d.Version), null(d.Description), d.Content, d.JSONSchema,
			null(d.Source), d.Origin, null(d.Hash), encodeList(d.Tags), d.Metadata, p.created, now)
		if err != nil {
			return err
		}
		if n == 0 {
			return conflictf("the schema %q was written by a person; a %s document does not replace it", d.Name, d.Origin)
		}
		d.ID, d.CreatedAt, d.UpdatedAt, d.TenantID = p.id, p.created, now, sc.TenantID
		d.UserID, _ = owner.(string)
		d.Shared = owner == nil
		ch = change{sc.TenantID, d.UserID, TypeSchema, d.ID}
		return putKey(ctx, c, sc.TenantID, owner, entry{
			entity: TypeSchema, id: d.ID, name: d.Name, metadata: d.Metadata,
			summary: cmp.Or(d.Content, d.Description, d.Name),
		}, now)
	})
	s.fuzzy.changed(ch)
	return err
}

func (s *Schema) check() error {
	if _, err := checkKey(s.Name); err != nil {
		return err
	}
	s.Kind = cmp.Or(s.Kind, "agent")
	if !printable(s.Kind, 50) {
		return invalidf("a kind must be 1-50 printable characters")
	}
	if len(s.JSONSchema) == 0 {
		s.JSONSchema = json.RawMessage("{}")
	}
	if err := cleanTexts("version", &s.Version, "description", &s.Description, "content", &s.Content,
		"source", &s.Source, "origin", &s.Origin, "content_hash", &s.Hash); err != nil {
		return err
	}
	if err := checkJSON("json_schema", s.JSONSchema); err != nil {
		return err
	}
	return checkObject("metadata", s.Metadata)
}

// Schema is a document by its name or id: the caller's own, else its tenant's,
// else the system's.
func (s *Store) Schema(ctx context.Context, nameOrID string) (Schema, error) {
	var d Schema
	err := s.read(ctx, "read schema", func(c Conn, sc scope) error {
		found, err := byNameOrID(nameOrID, func(column string) (found bool, err error) {
			err = c.Query(ctx, `SELECT `+schemaColumns+` FROM schemas WHERE `+visible+` AND `+column+` = $4
				ORDER BY `+nearness+` LIMIT 1`, func(r Row) error {
				found = true
				return scanSchema(r, &d)
			}, sc.TenantID, sc.user, identity.SystemTenant, nameOrID)
			return found, err
		})
		if err == nil && !found {
			err = notFound("schema", nameOrID)
		}
		return err
	})
	return d, err
}

// SchemaFilter chooses documents.
type SchemaFilter struct {
	// Kind and Name choose exactly, "" any.
	Kind, Name string
	// Limit is 100 by default and 1000 at most.
	Limit int
	// Cursor is what the page before returned.
	Cursor string
}

// Schemas lists the documents that the caller may read, by name; of several
// with one name the nearest (as in [Store.Schema]). The second result is the
// cursor of the next page, "" after the last.
func (s *Store) Schemas(ctx context.Context, f SchemaFilter) ([]Schema, string, error) {
	limit := page(f.Limit, 100, 1000)
	var all []Schema
	err := s.read(ctx, "list schemas", func(c Conn, sc scope) error {
		q := newQuery(`SELECT ` + schemaColumns + ` FROM schemas WHERE ` + visible)
		q.args = []any{sc.TenantID, sc.user, identity.SystemTenant}
		if f.Kind != "" {
			q.add(` AND kind = `).arg(f.Kind)
		}
		if f.Name != "" {
			q.add(` AND name = `).arg(f.Name)
		}
		if f.Cursor != "" {
			after, err := openCursor(f.Cursor, 1)
			if err != nil {
				return err
			}
			q.add(` AND name > `).arg(after[0])
		}
		// A name has at most three rows: own, shared, the system's.
		q.add(` ORDER BY name, ` + nearness + `, id LIMIT `).arg(3 * (limit + 1))
		return c.Query(ctx, q.String(), func(r Row) error {
			var d Schema
			if err := scanSchema(r, &d); err != nil {
				return err
			}
			if n := len(all); n == 0 || all[n-1].Name != d.Name {
				all = append(all, d)
			}
			return nil
		}, q.args...)
	})
	if err != nil || len(all) <= limit {
		return all, "", err
	}
	return all[:limit], newCursor(all[limit-1].Name), nil
}

// DeleteSchema hides the caller's own document of that name or id, else its
// tenant's shared one, and removes its key.
func (s *Store) DeleteSchema(ctx context.Context, nameOrID string) error {
	return s.deleteKeyed(ctx, schemasTable, nameOrID)
}
