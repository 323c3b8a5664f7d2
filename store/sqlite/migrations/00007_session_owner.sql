-- +goose Up
-- A session is its owner's: tenant, id and owner tell sessions apart, and their
-- messages. owner is the user, '' for anonymous callers, because a NULL is never
-- unique; user_id is read from it. The keys keep the order of the old rows, so that
-- copying a table only appends.
CREATE TABLE new_sessions (
	tenant_id        TEXT    NOT NULL,
	id               TEXT    NOT NULL,
	owner            TEXT    NOT NULL,
	user_id          TEXT    GENERATED ALWAYS AS (NULLIF(owner, '')) VIRTUAL,
	name             TEXT,
	description      TEXT,
	agent_name       TEXT,
	mode             TEXT,
	total_tokens     INTEGER NOT NULL DEFAULT 0,
	message_count    INTEGER NOT NULL DEFAULT 0,
	dropped_messages INTEGER NOT NULL DEFAULT 0,
	summary_seq      INTEGER NOT NULL DEFAULT 0,
	summary_tokens   INTEGER NOT NULL DEFAULT 0,
	chunks           INTEGER NOT NULL DEFAULT 0,
	memory_seq       INTEGER NOT NULL DEFAULT 0,
	graph_edges      TEXT    NOT NULL DEFAULT '[]',
	metadata         TEXT,
	tags             TEXT    NOT NULL DEFAULT '[]',
	created_at       TEXT    NOT NULL,
	updated_at       TEXT    NOT NULL,
	deleted_at       TEXT,
	PRIMARY KEY (tenant_id, id, owner)
) WITHOUT ROWID;
INSERT INTO new_sessions (tenant_id, id, owner, name, description, agent_name, mode, total_tokens, message_count, dropped_messages,
	summary_seq, summary_tokens, chunks, memory_seq, graph_edges, metadata, tags, created_at, updated_at, deleted_at)
	SELECT tenant_id, id, COALESCE(user_id, ''), name, description, agent_name, mode, total_tokens, message_count, dropped_messages,
	summary_seq, summary_tokens, chunks, memory_seq, graph_edges, metadata, tags, created_at, updated_at, deleted_at
	FROM sessions ORDER BY tenant_id, id;
DROP TABLE sessions;
ALTER TABLE new_sessions RENAME TO sessions;
CREATE INDEX sessions_recent ON sessions (tenant_id, owner, updated_at, id);

CREATE TABLE new_messages (
	tenant_id     TEXT    NOT NULL,
	session_id    TEXT    NOT NULL,
	owner         TEXT    NOT NULL,
	seq           INTEGER NOT NULL,
	id            TEXT    NOT NULL,
	user_id       TEXT    GENERATED ALWAYS AS (NULLIF(owner, '')) VIRTUAL,
	message_type  TEXT    NOT NULL DEFAULT 'user',
	content       TEXT,
	parts         TEXT,
	tool_calls    TEXT,
	status        TEXT,
	token_count   INTEGER NOT NULL DEFAULT 0,
	input_tokens  INTEGER NOT NULL DEFAULT 0,
	output_tokens INTEGER NOT NULL DEFAULT 0,
	cost_usd      REAL    NOT NULL DEFAULT 0,
	latency_ms    INTEGER,
	model         TEXT,
	agent_name    TEXT,
	agent_path    TEXT,
	run_id        TEXT,
	trace_id      TEXT,
	span_id       TEXT,
	graph_edges   TEXT    NOT NULL DEFAULT '[]',
	metadata      TEXT,
	tags          TEXT    NOT NULL DEFAULT '[]',
	created_at    TEXT    NOT NULL,
	updated_at    TEXT    NOT NULL,
	deleted_at    TEXT,
	PRIMARY KEY (tenant_id, session_id, owner, seq)
) WITHOUT ROWID;
INSERT INTO new_messages (tenant_id, session_id, owner, seq, id, message_type, content, parts, tool_calls, status, token_count,
	input_tokens, output_tokens, cost_usd, latency_ms, model, agent_name, agent_path, run_id, trace_id, span_id, graph_edges, metadata,
	tags, created_at, updated_at, deleted_at)
	SELECT tenant_id, session_id, COALESCE(user_id, ''), seq, id, message_type, content, parts, tool_calls, status, token_count,
	input_tokens, output_tokens, cost_usd, latency_ms, model, agent_name, agent_path, run_id, trace_id, span_id, graph_edges, metadata,
	tags, created_at, updated_at, deleted_at
	FROM messages ORDER BY tenant_id, session_id, seq;
DROP TABLE messages;
ALTER TABLE new_messages RENAME TO messages;
CREATE UNIQUE INDEX messages_id ON messages (tenant_id, id);
CREATE INDEX messages_recent ON messages (tenant_id, owner, created_at, session_id, token_count)
	WHERE deleted_at IS NULL AND message_type <> 'memory';

-- What is looked for by a session's id is its owner's, too.
DROP INDEX runs_session;
DROP INDEX runs_live;
DROP INDEX run_requests_session;
CREATE INDEX runs_session ON runs (tenant_id, session_id, COALESCE(user_id, ''), created_at, id);
CREATE INDEX runs_live ON runs (tenant_id, session_id, COALESCE(user_id, ''), created_at, id) WHERE ended_at IS NULL;
CREATE INDEX run_requests_session ON run_requests (tenant_id, session_id, COALESCE(user_id, ''), created_at, id);

-- As at the end of 00001.
DELETE FROM sqlite_stat1 WHERE tbl IN ('sessions', 'messages', 'new_sessions', 'new_messages')
	OR idx IN ('runs_session', 'runs_live', 'run_requests_session');
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('sessions', 'sessions', '1000000 100000 2 1'),
	('sessions', 'sessions_recent', '1000000 100000 100 1 1'),
	('messages', 'messages', '10000000 1000000 100 50 1'),
	('messages', 'messages_id', '10000000 1000000 1'),
	('messages', 'messages_recent', '10000000 1000000 10000 1 1 1'),
	('runs', 'runs_session', '1000000 100000 20 10 1 1'),
	('runs', 'runs_live', '10000 1000 2 1 1 1'),
	('run_requests', 'run_requests_session', '1000000 100000 20 10 1 1');
