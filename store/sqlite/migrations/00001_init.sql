-- +goose Up
-- tenant_id begins every key. JSON, UUID and time columns are TEXT: other type
-- names would give them numeric affinity. Times are UTC with microseconds,
-- "2026-11-20 18:18:05.123456", which sorts and which SQLite's date functions read.
CREATE TABLE sessions (
	tenant_id     TEXT    NOT NULL,
	id            TEXT    NOT NULL,
	user_id       TEXT,
	name          TEXT,
	description   TEXT,
	agent_name    TEXT,
	mode          TEXT,
	total_tokens  INTEGER NOT NULL DEFAULT 0,
	message_count INTEGER NOT NULL DEFAULT 0,
	graph_edges   TEXT    NOT NULL DEFAULT '[]',
	metadata      TEXT,
	tags          TEXT    NOT NULL DEFAULT '[]',
	created_at    TEXT    NOT NULL,
	updated_at    TEXT    NOT NULL,
	deleted_at    TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX sessions_recent ON sessions (tenant_id, user_id, updated_at, id);

-- Clustered by session and number: reading a session in order is one range.
CREATE TABLE messages (
	tenant_id     TEXT    NOT NULL,
	session_id    TEXT    NOT NULL,
	seq           INTEGER NOT NULL,
	id            TEXT    NOT NULL,
	user_id       TEXT,
	message_type  TEXT    NOT NULL DEFAULT 'user',
	content       TEXT,
	tool_calls    TEXT,
	status        TEXT,
	token_count   INTEGER NOT NULL DEFAULT 0,
	input_tokens  INTEGER NOT NULL DEFAULT 0,
	output_tokens INTEGER NOT NULL DEFAULT 0,
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
	PRIMARY KEY (tenant_id, session_id, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX messages_id ON messages (tenant_id, id);

CREATE TABLE schemas (
	tenant_id    TEXT NOT NULL,
	id           TEXT NOT NULL,
	user_id      TEXT,
	name         TEXT NOT NULL,
	kind         TEXT NOT NULL,
	version      TEXT,
	description  TEXT,
	content      TEXT NOT NULL DEFAULT '',
	json_schema  TEXT NOT NULL DEFAULT '{}',
	source       TEXT,
	origin       TEXT NOT NULL DEFAULT '',
	content_hash TEXT,
	graph_edges  TEXT NOT NULL DEFAULT '[]',
	metadata     TEXT,
	tags         TEXT NOT NULL DEFAULT '[]',
	created_at   TEXT NOT NULL,
	updated_at   TEXT NOT NULL,
	deleted_at   TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX schemas_owner ON schemas (tenant_id, user_id, name);

CREATE TABLE resources (
	tenant_id   TEXT    NOT NULL,
	id          TEXT    NOT NULL,
	user_id     TEXT,
	name        TEXT    NOT NULL,
	uri         TEXT,
	ordinal     INTEGER NOT NULL DEFAULT 0,
	content     TEXT    NOT NULL DEFAULT '',
	category    TEXT,
	graph_edges TEXT    NOT NULL DEFAULT '[]',
	metadata    TEXT,
	tags        TEXT    NOT NULL DEFAULT '[]',
	created_at  TEXT    NOT NULL,
	updated_at  TEXT    NOT NULL,
	deleted_at  TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX resources_owner ON resources (tenant_id, user_id, name);

CREATE TABLE users (
	tenant_id        TEXT NOT NULL,
	id               TEXT NOT NULL,
	user_id          TEXT NOT NULL,
	name             TEXT NOT NULL,
	email            TEXT,
	content          TEXT,
	interests        TEXT NOT NULL DEFAULT '[]',
	preferred_topics TEXT NOT NULL DEFAULT '[]',
	graph_edges      TEXT NOT NULL DEFAULT '[]',
	metadata         TEXT,
	tags             TEXT NOT NULL DEFAULT '[]',
	created_at       TEXT NOT NULL,
	updated_at       TEXT NOT NULL,
	deleted_at       TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- The key index; owner is '' for shared rows, because a NULL is never unique.
CREATE TABLE kv_store (
	tenant_id       TEXT NOT NULL,
	owner           TEXT NOT NULL,
	entity_key      TEXT NOT NULL,
	entity_type     TEXT NOT NULL,
	entity_id       TEXT NOT NULL,
	content_summary TEXT NOT NULL DEFAULT '',
	metadata        TEXT,
	graph_edges     TEXT NOT NULL DEFAULT '[]',
	updated_at      TEXT NOT NULL,
	PRIMARY KEY (tenant_id, owner, entity_key, entity_type)
) WITHOUT ROWID;
CREATE INDEX kv_store_entity ON kv_store (tenant_id, entity_type, entity_id);

-- Without statistics SQLite guesses that a tenant has ten rows, and reads them
-- all where an index would find one. These are fixed: no plan ever changes by
-- itself. Rows, then rows per value of the first column, of the first two, …
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('sessions', 'sessions', '1000000 100000 1'),
	('sessions', 'sessions_recent', '1000000 100000 100 1 1'),
	('messages', 'messages', '10000000 1000000 50 1'),
	('messages', 'messages_id', '10000000 1000000 1'),
	('schemas', 'sqlite_autoindex_schemas_1', '10000 1000 1'),
	('schemas', 'schemas_owner', '10000 1000 10 1'),
	('resources', 'sqlite_autoindex_resources_1', '1000000 100000 1'),
	('resources', 'resources_owner', '1000000 100000 1000 1'),
	('users', 'users', '100000 10000 1'),
	('kv_store', 'kv_store', '1000000 100000 1000 1 1'),
	('kv_store', 'kv_store_entity', '1000000 100000 30000 1');
