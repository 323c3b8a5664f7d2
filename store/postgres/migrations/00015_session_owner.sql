-- +goose Up
-- A session is its owner's: tenant, id and owner tell sessions apart, and their
-- messages. COALESCE(user_id, '') is the owner, '' for anonymous callers: a NULL is
-- never unique, and "IS NOT DISTINCT FROM" no equality that an index serves. No row
-- is written anew.
ALTER TABLE sessions DROP CONSTRAINT sessions_pkey;
CREATE UNIQUE INDEX sessions_key ON sessions (tenant_id, id, (COALESCE(user_id, '')));
-- For logical replication, which would know a row by its primary key.
ALTER TABLE sessions REPLICA IDENTITY FULL;

ALTER TABLE messages DROP CONSTRAINT messages_pkey;
ALTER TABLE messages ADD CONSTRAINT messages_pkey PRIMARY KEY USING INDEX messages_id;
CREATE UNIQUE INDEX messages_key ON messages (tenant_id, session_id, (COALESCE(user_id, '')), seq);

-- What is looked for by a session's id is its owner's, too.
DROP INDEX runs_session;
DROP INDEX runs_live;
DROP INDEX run_requests_session;
CREATE INDEX runs_session ON runs (tenant_id, session_id, (COALESCE(user_id, '')), created_at, id);
CREATE INDEX runs_live ON runs (tenant_id, session_id, (COALESCE(user_id, '')), created_at, id) WHERE ended_at IS NULL;
CREATE INDEX run_requests_session ON run_requests (tenant_id, session_id, (COALESCE(user_id, '')), created_at, id);
