package store

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/p8-org/p8/identity"
)

func (s *Schema) fields(f *fields) {
	f.require("name", &s.Name)
	f.require("kind", &s.Kind)
	f.add("version", &s.Version)
	f.add("description", &s.Description)
	f.require("content", &s.Content)
	f.require("json_schema", &s.JSONSchema)
	f.add("source", &s.Source)
	f.require("origin", &s.Origin)
	f.add("content_hash", &s.Hash)
	f.require("id", &s.ID)
	f.add("user_id", &s.UserID)
	f.add("tags", &s.Tags)
	f.add("metadata", &s.Metadata)
	f.require("created_at", &s.CreatedAt)
	f.require("updated_at", &s.UpdatedAt)
}

func (s *Schema) place() place {
	return place{&s.TenantID, &s.ID, &s.UserID, &s.Shared, &s.CreatedAt, &s.UpdatedAt, &s.Metadata}
}

func (s *Schema) identity() (column, value string) { return "name", s.Name }

func (s *Schema) entry() entry {
	return entry{name: s.Name, summary: cmp.Or(s.Content, s.Description, s.Name), metadata: s.Metadata}
}

// PutSchema writes a document under its name, for the caller, or for everybody of the
// tenant if it is Shared (an anonymous caller's rows always are). It replaces a row of
// that name, even a deleted one, which keeps its id and created_at; with an ID, it
// replaces and renames the row of that id. Kind "" is agent. PutSchema sets the row's id,
// owner and times.
//
// A mirror (Origin not "") never replaces a row that a person wrote (Origin ""): that is
// ErrConflict. So is a name whose key another schema of the same owner has. A shared
// document of a reserved name ([Options]) is ErrForbidden, and what Options.Replaces does not
// allow ErrConflict.
func (s *Store) PutSchema(ctx context.Context, d *Schema) error {
	if err := d.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return s.writing(ctx, "store schema", func(w *writer) error {
		if err := w.mayReplaceSchema(ctx, d); err != nil {
			return err
		}
		if err := w.put(ctx, schemas, d, PutOptions{}); err != nil {
			return err
		}
		return w.recordSchema(ctx, d, OperationUpdate)
	})
}

// mayReplaceSchema asks Options.Replaces. The transaction holds the row from then on.
func (w *writer) mayReplaceSchema(ctx context.Context, d *Schema) error {
	if w.store.replaces == nil || d.AnyVersion || d.Origin != "" {
		return nil
	}
	p, err := schemas.place(ctx, w.c, w.store.dialect.lock(), w.by, w.by.owner(d.Shared), d)
	if err != nil || !p.live {
		return err
	}
	before, _ := p.old.(*Schema)
	if before.Origin != "" {
		return nil
	}
	if err := w.store.replaces(before, d); err != nil {
		return conflictf("%v", err)
	}
	return nil
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
	if err := checkJSON("json_schema", &s.JSONSchema); err != nil {
		return err
	}
	if err := cleanList("tags", s.Tags); err != nil {
		return err
	}
	return checkObject("metadata", &s.Metadata)
}

// Schema returns the document of a name or id: the caller's own, else its tenant's, else
// the system's. By a reserved name it never finds the tenant's: only an older program can
// have written that row.
func (s *Store) Schema(ctx context.Context, nameOrID string) (Schema, error) {
	var d Schema
	err := s.read(ctx, "read schema", func(c Conn, by caller) error {
		found, err := schemas.byNameOrID(nameOrID, func(column string) (bool, error) {
			q, nearest := schemas.visible(by)
			q.add(` AND ` + column + ` = `).arg(nameOrID)
			if column == "name" && s.reserved.has(nameOrID) {
				q.add(notIgnored)
			}
			q.add(` ORDER BY ` + nearest + ` LIMIT 1`)
			rec, err := schemas.first(ctx, c, q)
			if rec != nil {
				d = *rec.(*Schema)
			}
			return rec != nil, err
		})
		if err == nil && !found {
			err = notFound("schema", nameOrID)
		}
		return err
	})
	return d, err
}

// notIgnored leaves out the tenant's shared documents; $3 is identity.SystemTenant.
const notIgnored = ` AND (user_id IS NOT NULL OR tenant_id = $3)`

// SchemaFilter chooses documents.
type SchemaFilter struct {
	// Kind and Name must be equal; "" matches all.
	Kind, Name string
	// Limit is 100 by default and 1000 at most.
	Limit int
	// Cursor is the next of the previous page.
	Cursor string
}

// Schemas lists the documents that the caller may read, by name; of several with one name
// the nearest one (as in [Store.Schema]). The second result is the cursor of the next
// page, "" after the last.
func (s *Store) Schemas(ctx context.Context, f SchemaFilter) ([]Schema, string, error) {
	limit := page(f.Limit, 100, 1000)
	var all []Schema
	err := s.read(ctx, "list schemas", func(c Conn, by caller) error {
		all = nil
		after := ""
		if f.Cursor != "" {
			parts, err := openCursor(f.Cursor, 1)
			if err != nil {
				return err
			}
			after = parts[0]
		}
		// A name has at most three rows: own, shared, the system's. Some are ignored, so one
		// query may not fill the page. The next one begins with the last name, because not all
		// of its rows may have been read.
		most := 3 * (limit + 1)
		for n := most; n == most && len(all) <= limit; {
			q := f.query(by, after)
			q.arg(most)
			n = 0
			last := after
			if err := schemas.read(ctx, c, q, func(rec record) error {
				d := rec.(*Schema)
				if n++; d.Name != last {
					after, last = last, d.Name
				}
				if s.reserved.ignores(d.TenantID, d.UserID, d.Name) {
					return nil
				}
				if i := len(all); i == 0 || all[i-1].Name != d.Name {
					all = append(all, *d)
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(all) <= limit {
		return all, "", err
	}
	return all[:limit], newCursor(all[limit-1].Name), nil
}

// query reads the documents after a name, up to a limit that follows.
func (f *SchemaFilter) query(by caller, after string) *query {
	q, nearest := schemas.visible(by)
	if f.Kind != "" {
		q.add(` AND kind = `).arg(f.Kind)
	}
	if f.Name != "" {
		q.add(` AND name = `).arg(f.Name)
	}
	if after != "" {
		q.add(` AND name > `).arg(after)
	}
	return q.add(` ORDER BY name, ` + nearest + `, id LIMIT `)
}

// DeleteSchema hides the caller's own document of that name or id, else its
// tenant's shared one, and removes its key; its history stays.
func (s *Store) DeleteSchema(ctx context.Context, nameOrID string) error {
	return s.writing(ctx, "delete schema", func(w *writer) error {
		rec, err := w.removeNamed(ctx, schemas, nameOrID)
		if err != nil {
			return err
		}
		if err := w.recordSchema(ctx, rec.(*Schema), OperationDelete); err != nil {
			return err
		}
		return w.audit(ctx, AuditSchemaDelete, rec.entry().name)
	})
}

// SchemaHistory lists the versions of a schema, the newest first, at most limit (20 if 0,
// at most 1000). The schema is the caller's of that name or id, else its tenant's, else
// the system's. A deleted schema keeps its history.
func (s *Store) SchemaHistory(ctx context.Context, nameOrID string, limit int) ([]SchemaVersion, error) {
	return s.schemaHistory(ctx, nameOrID, "", page(limit, 20, 1000))
}

// SchemaRevision returns the newest version of a schema with that Checksum. The schema is that
// of SchemaHistory.
func (s *Store) SchemaRevision(ctx context.Context, nameOrID, checksum string) (SchemaVersion, error) {
	list, err := s.schemaHistory(ctx, nameOrID, checksum, 1)
	if err != nil || len(list) == 0 {
		return SchemaVersion{}, cmp.Or(err, notFound("revision of the schema", nameOrID))
	}
	return list[0], nil
}

func (s *Store) schemaHistory(ctx context.Context, nameOrID, checksum string, limit int) (list []SchemaVersion, err error) {
	err = s.read(ctx, "read schema history", func(c Conn, by caller) error {
		var tenant, id string
		found, err := schemas.byNameOrID(nameOrID, func(column string) (bool, error) {
			counts := ``
			if column == "name" && s.reserved.has(nameOrID) {
				counts = notIgnored
			}
			return one(ctx, c, `SELECT tenant_id, id FROM schemas WHERE (tenant_id = $1 AND user_id = $2
				OR tenant_id = $1 AND user_id IS NULL OR tenant_id = $3 AND user_id IS NULL) AND `+column+` = $4`+counts+`
				ORDER BY deleted_at IS NOT NULL, `+nearness+`, updated_at DESC LIMIT 1`,
				[]any{&tenant, &id}, by.TenantID, by.user, identity.SystemTenant, nameOrID)
		})
		if err == nil && !found {
			err = notFound("schema", nameOrID)
		}
		if err != nil {
			return err
		}
		return c.Query(ctx, `SELECT schema_id, name, revision, operation, content, json_schema, source, checksum, user_id, recorded_at
			FROM schema_timemachine WHERE tenant_id = $1 AND schema_id = $2 AND ($4 = '' OR checksum = $4) ORDER BY revision DESC LIMIT $3`, func(r Row) error {
			var v SchemaVersion
			err := r.Scan(&v.SchemaID, &v.Name, &v.Version, &v.Operation, &v.Content, &v.JSONSchema, &v.Source, &v.Checksum,
				&v.UserID, &v.RecordedAt)
			list = append(list, v)
			return err
		}, tenant, id, limit, checksum)
	})
	return list, err
}
