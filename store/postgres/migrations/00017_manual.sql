-- +goose Up
-- The pages of p8's manual, which every caller may read and no policy of resources shows.
-- The view reads them as its owner; security_barrier keeps a caller's conditions away from
-- all other rows.
CREATE VIEW manual WITH (security_barrier) AS
	SELECT name, uri, content, category, id, tenant_id, user_id, graph_edges, metadata, tags, created_at, updated_at, deleted_at
	FROM resources WHERE tenant_id = '_manual' AND user_id IS NULL AND deleted_at IS NULL;
