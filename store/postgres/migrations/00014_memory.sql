-- +goose Up
-- How far moments sum a session up: the last message that is covered, what the
-- covered ones count in total_tokens, how many moments there are, and the number of
-- the newest memory row.
ALTER TABLE sessions ADD COLUMN summary_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN summary_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN chunks BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN memory_seq BIGINT NOT NULL DEFAULT 0;

-- Messages that were replaced do not count any more.
UPDATE sessions SET total_tokens = COALESCE((SELECT CAST(SUM(m.token_count) AS BIGINT) FROM messages m
	WHERE m.tenant_id = sessions.tenant_id AND m.session_id = sessions.id AND m.deleted_at IS NULL), 0)
	WHERE dropped_messages > 0;
-- The messages of a deleted session are hidden with it.
UPDATE messages SET deleted_at = (SELECT s.deleted_at FROM sessions s WHERE s.tenant_id = messages.tenant_id AND s.id = messages.session_id)
	WHERE deleted_at IS NULL AND (tenant_id, session_id) IN (SELECT tenant_id, id FROM sessions WHERE deleted_at IS NOT NULL);

-- The messages that a session_chunk moment sums up, NULL for other moments. What
-- its metadata say of it a user may write.
ALTER TABLE moments ADD COLUMN first_seq BIGINT;
ALTER TABLE moments ADD COLUMN last_seq BIGINT;

-- A session's moments: the newest, those that cover its newest messages, and in the
-- order of its timeline.
DROP INDEX moments_session;
CREATE INDEX moments_session ON moments (tenant_id, user_id, source_session_id, created_at, last_seq) WHERE user_id IS NOT NULL;
CREATE INDEX moments_session_shared ON moments (tenant_id, source_session_id, created_at, last_seq) WHERE user_id IS NULL;
CREATE INDEX moments_covering ON moments (tenant_id, user_id, source_session_id, last_seq) WHERE last_seq IS NOT NULL AND user_id IS NOT NULL;
CREATE INDEX moments_covering_shared ON moments (tenant_id, source_session_id, last_seq) WHERE last_seq IS NOT NULL AND user_id IS NULL;
CREATE INDEX moments_timeline ON moments (tenant_id, user_id, source_session_id, COALESCE(starts_timestamp, created_at), id)
	WHERE user_id IS NOT NULL;
CREATE INDEX moments_timeline_shared ON moments (tenant_id, source_session_id, COALESCE(starts_timestamp, created_at), id)
	WHERE user_id IS NULL;
-- A user's messages by day, with what is counted of them.
CREATE INDEX messages_recent ON messages (tenant_id, user_id, created_at) INCLUDE (session_id, token_count)
	WHERE deleted_at IS NULL AND message_type <> 'memory' AND user_id IS NOT NULL;
CREATE INDEX messages_recent_shared ON messages (tenant_id, created_at) INCLUDE (session_id, token_count)
	WHERE deleted_at IS NULL AND message_type <> 'memory' AND user_id IS NULL;
-- For all tenants: who has something new.
CREATE INDEX moments_changed ON moments (updated_at);
CREATE INDEX files_changed ON files (updated_at);

-- What one process at a time does for a user ('' for anonymous callers).
CREATE TABLE leases (
	tenant_id  TEXT        NOT NULL,
	user_id    TEXT        NOT NULL,
	name       TEXT        NOT NULL,
	owner      TEXT        NOT NULL,
	expires_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, user_id, name)
);
-- It is not for callers, whatever is granted later.
ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
