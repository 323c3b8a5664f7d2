-- +goose Up
-- The store's statements for callers run as the role p8_caller, which gets its rights and
-- its policies when a process starts (see caller.go). Under row-level security, a condition
-- can use an index only if PostgreSQL takes it for leakproof. A CASE is, a COALESCE is not.
DROP INDEX sessions_key;
CREATE UNIQUE INDEX sessions_key ON sessions (tenant_id, id, (CASE WHEN user_id IS NULL THEN '' ELSE user_id END));
DROP INDEX messages_key;
CREATE UNIQUE INDEX messages_key ON messages (tenant_id, session_id, (CASE WHEN user_id IS NULL THEN '' ELSE user_id END), seq);
DROP INDEX runs_session;
CREATE INDEX runs_session ON runs (tenant_id, session_id, (CASE WHEN user_id IS NULL THEN '' ELSE user_id END), created_at, id);
DROP INDEX runs_live;
CREATE INDEX runs_live ON runs (tenant_id, session_id, (CASE WHEN user_id IS NULL THEN '' ELSE user_id END), created_at, id) WHERE ended_at IS NULL;
DROP INDEX run_requests_session;
CREATE INDEX run_requests_session ON run_requests (tenant_id, session_id, (CASE WHEN user_id IS NULL THEN '' ELSE user_id END), created_at, id);
DROP INDEX moments_timeline;
CREATE INDEX moments_timeline ON moments (tenant_id, user_id, source_session_id, (CASE WHEN starts_timestamp IS NULL THEN created_at ELSE starts_timestamp END), id)
	WHERE user_id IS NOT NULL;
DROP INDEX moments_timeline_shared;
CREATE INDEX moments_timeline_shared ON moments (tenant_id, source_session_id, (CASE WHEN starts_timestamp IS NULL THEN created_at ELSE starts_timestamp END), id)
	WHERE user_id IS NULL;
DROP INDEX moments_happened;
CREATE INDEX moments_happened ON moments (tenant_id, user_id, (CASE WHEN moment_type = 'reminder' THEN created_at ELSE (CASE WHEN starts_timestamp IS NULL THEN created_at ELSE starts_timestamp END) END), id)
	WHERE user_id IS NOT NULL;
DROP INDEX moments_happened_shared;
CREATE INDEX moments_happened_shared ON moments (tenant_id, (CASE WHEN moment_type = 'reminder' THEN created_at ELSE (CASE WHEN starts_timestamp IS NULL THEN created_at ELSE starts_timestamp END) END), id)
	WHERE user_id IS NULL;

-- The operators of the GIN indexes are not leakproof, either, and only a superuser could say
-- so. FUZZY and keyword searches read these views: the role has no other way to the rows,
-- and no caller writes a condition that could leak. They are not security_barriers.
CREATE VIEW caller_keys AS
	SELECT tenant_id, owner, entity_key, entity_type, entity_id, content_summary, scope, summary_size FROM kv_store
	WHERE CASE tenant_id WHEN current_setting('p8.tenant') THEN owner IN ('', current_setting('p8.owner')) WHEN '_' THEN owner = '' ELSE false END;
CREATE VIEW caller_words AS
	SELECT tenant_id, table_name, entity_id, owner, words FROM keywords
	WHERE CASE tenant_id WHEN current_setting('p8.tenant') THEN owner IN ('', current_setting('p8.user')) WHEN '_' THEN owner = '' ELSE false END;
