package postgres

import (
	"testing"

	"github.com/p8-org/p8/store"
)

// A small category that lies far from the question is found whole, although the
// scan of the index gives up long before it.
func TestFarCategory(t *testing.T) {
	e := openAt(t, migrated.database(t)+"&hnsw.max_scan_tuples=1000") // 20,000 otherwise
	ctx := t.Context()
	if err := e.WriteSystem(ctx, func(c store.Conn) error {
		for _, sql := range []string{
			`CREATE TEMP TABLE places ON COMMIT DROP AS SELECT i, CASE WHEN i <= 5 THEN 'far' ELSE 'near' END AS category,
				CASE WHEN i <= 5 THEN -1 ELSE 1 END AS side FROM generate_series(1, 2000) i`,
			`INSERT INTO resources (tenant_id, id, name, category, created_at, updated_at)
				SELECT 't', 'r' || i, 'r' || i, category, now(), now() FROM places`,
			`INSERT INTO embeddings (tenant_id, table_name, entity_id, field_name, model, dimensions, content_hash, embedding, created_at)
				SELECT 't', 'resources', 'r' || i, 'content', '` + model + `', 3, '', ('[' || side || ',' || sin(i) / 9 || ',' || cos(i) / 9 || ']')::vector, now()
				FROM places`,
		} {
			if _, err := c.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.PrepareModel(ctx, model, 3); err != nil {
		t.Fatal(err)
	}
	found, err := e.Nearest(ctx, store.Scope{Tenant: "t"},
		store.SearchQuery{Table: "resources", Model: model, Vector: []float32{1, 0, 0}, Category: "far", Limit: 10}, nil)
	if err != nil || len(found) != 5 {
		t.Errorf("%d rows of the category were found, want 5: %v", len(found), err)
	}
}
