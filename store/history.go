package store

import (
	"cmp"
	"context"

	"github.com/p8-org/p8/identity"
)

// The operations of the schema history.
const (
	OperationInsert = "insert"
	OperationUpdate = "update"
	OperationDelete = "delete"
)

// recordSchema adds the state of a schema to its history, unless it is the last
// one recorded. The schema's row is locked, so that the numbers are without
// gaps.
func (w *writer) recordSchema(ctx context.Context, d *Schema, operation string) error {
	var last SchemaVersion
	found, err := one(ctx, w.c, `SELECT revision, operation, name, content, checksum FROM schema_timemachine
		WHERE tenant_id = $1 AND schema_id = $2 ORDER BY revision DESC LIMIT 1`,
		[]any{&last.Version, &last.Operation, &last.Name, &last.Content, &last.Checksum}, w.sc.TenantID, d.ID)
	if err != nil {
		return err
	}
	gone := last.Operation == OperationDelete
	checksum := hashText(cmp.Or(d.Source, string(d.JSONSchema)))
	if found && last.Checksum == checksum && last.Name == d.Name && last.Content == d.Content && gone == (operation == OperationDelete) {
		return nil
	}
	if operation == OperationUpdate && (!found || gone) {
		operation = OperationInsert
	}
	_, err = w.c.Exec(ctx, `INSERT INTO schema_timemachine
		(tenant_id, schema_id, revision, name, operation, content, json_schema, source, checksum, user_id, recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		w.sc.TenantID, d.ID, last.Version+1, d.Name, operation, d.Content, d.JSONSchema, null(d.Source), checksum, w.sc.user, w.now)
	return err
}

// SchemaHistory lists the states that a schema was in, the newest first, at
// most limit (0 is 20, 1000 at most). The schema is the caller's of that name or
// id, else its tenant's, else the system's; a deleted one still has its history.
func (s *Store) SchemaHistory(ctx context.Context, nameOrID string, limit int) ([]SchemaVersion, error) {
	limit = page(limit, 20, 1000)
	var list []SchemaVersion
	err := s.read(ctx, "read schema history", func(c Conn, sc scope) error {
		var tenant, id string
		found, err := schemas.byNameOrID(nameOrID, func(column string) (bool, error) {
			counts := ``
			if column == "name" && s.reserved.has(nameOrID) {
				counts = notIgnored
			}
			return one(ctx, c, `SELECT tenant_id, id FROM schemas WHERE (tenant_id = $1 AND user_id = $2
				OR tenant_id = $1 AND user_id IS NULL OR tenant_id = $3 AND user_id IS NULL) AND `+column+` = $4`+counts+`
				ORDER BY deleted_at IS NOT NULL, `+nearness+`, updated_at DESC LIMIT 1`,
				[]any{&tenant, &id}, sc.TenantID, sc.user, identity.SystemTenant, nameOrID)
		})
		if err == nil && !found {
			err = notFound("schema", nameOrID)
		}
		if err != nil {
			return err
		}
		return c.Query(ctx, `SELECT schema_id, name, revision, operation, content, json_schema, source, checksum, user_id, recorded_at
			FROM schema_timemachine WHERE tenant_id = $1 AND schema_id = $2 ORDER BY revision DESC LIMIT $3`, func(r Row) error {
			var v SchemaVersion
			err := r.Scan(&v.SchemaID, &v.Name, &v.Version, &v.Operation, &v.Content, &v.JSONSchema, &v.Source, &v.Checksum,
				&v.UserID, &v.RecordedAt)
			list = append(list, v)
			return err
		}, tenant, id, limit)
	})
	return list, err
}
