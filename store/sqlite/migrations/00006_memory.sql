-- +goose Up
-- How far moments sum a session up: the last message that is covered, what the
-- covered ones count in total_tokens, how many moments there are, and the number of
-- the newest memory row.
ALTER TABLE sessions ADD COLUMN summary_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN summary_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN memory_seq INTEGER NOT NULL DEFAULT 0;

-- Messages that were replaced do not count any more.
UPDATE sessions SET total_tokens = COALESCE((SELECT SUM(m.token_count) FROM messages m
	WHERE m.tenant_id = sessions.tenant_id AND m.session_id = sessions.id AND m.deleted_at IS NULL), 0)
	WHERE dropped_messages > 0;
-- The messages of a deleted session are hidden with it.
UPDATE messages SET deleted_at = (SELECT s.deleted_at FROM sessions s WHERE s.tenant_id = messages.tenant_id AND s.id = messages.session_id)
	WHERE deleted_at IS NULL AND (tenant_id, session_id) IN (SELECT tenant_id, id FROM sessions WHERE deleted_at IS NOT NULL);

-- The messages that a session_chunk moment sums up, NULL for other moments. What
-- its metadata say of it a user may write.
ALTER TABLE moments ADD COLUMN first_seq INTEGER;
ALTER TABLE moments ADD COLUMN last_seq INTEGER;

-- A session's moments: the newest, those that cover its newest messages, and in the
-- order of its timeline.
DROP INDEX moments_session;
CREATE INDEX moments_session ON moments (tenant_id, user_id, source_session_id, created_at, last_seq);
CREATE INDEX moments_covering ON moments (tenant_id, user_id, source_session_id, last_seq) WHERE last_seq IS NOT NULL;
CREATE INDEX moments_timeline ON moments (tenant_id, user_id, source_session_id, COALESCE(starts_timestamp, created_at), id);
-- A user's messages by day, with what is counted of them.
CREATE INDEX messages_recent ON messages (tenant_id, user_id, created_at, session_id, token_count) WHERE deleted_at IS NULL AND message_type <> 'memory';
-- For all tenants: who has something new.
CREATE INDEX moments_changed ON moments (updated_at);
CREATE INDEX files_changed ON files (updated_at);

-- What one process at a time does for a user ('' for anonymous callers).
CREATE TABLE leases (
	tenant_id  TEXT NOT NULL,
	user_id    TEXT NOT NULL,
	name       TEXT NOT NULL,
	owner      TEXT NOT NULL,
	expires_at TEXT NOT NULL,
	PRIMARY KEY (tenant_id, user_id, name)
) WITHOUT ROWID;

-- As at the end of 00001.
DELETE FROM sqlite_stat1 WHERE idx = 'moments_session';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('moments', 'moments_session', '1000000 100000 1000 50 1 1'),
	('moments', 'moments_covering', '500000 50000 500 40 1'),
	('moments', 'moments_timeline', '1000000 100000 1000 50 1 1'),
	('moments', 'moments_changed', '1000000 1'),
	('files', 'files_changed', '1000000 1'),
	('messages', 'messages_recent', '10000000 1000000 10000 1 1 1'),
	('leases', 'leases', '10000 1000 2 1');
