package store

import (
	"cmp"
	"context"
)

// The operations of the schema history.
const (
	OperationInsert = "insert"
	OperationUpdate = "update"
	OperationDelete = "delete"
)

// recordSchema adds a version of a schema to its history, unless it equals the last one.
// The transaction holds the schema's row, so the numbers have no gaps.
func (w *writer) recordSchema(ctx context.Context, d *Schema, operation string) error {
	var last SchemaVersion
	found, err := one(ctx, w.c, `SELECT revision, operation, name, content, checksum FROM schema_timemachine
		WHERE tenant_id = $1 AND schema_id = $2 ORDER BY revision DESC LIMIT 1`,
		[]any{&last.Version, &last.Operation, &last.Name, &last.Content, &last.Checksum}, w.by.TenantID, d.ID)
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
		w.by.TenantID, d.ID, last.Version+1, d.Name, operation, d.Content, d.JSONSchema, null(d.Source), checksum, w.by.user, w.now)
	return err
}
