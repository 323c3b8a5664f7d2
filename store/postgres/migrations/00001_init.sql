-- +goose Up
-- tenant_id begins every key, so that the schema can be cut by tenant; no
-- triggers, no sequences, no stored code. Lists and free objects are JSONB, which
-- can be searched; what must come back as it was written is JSON: a document and
-- the calls that a model is shown again.
CREATE TABLE sessions (
	tenant_id     TEXT        NOT NULL,
	id            TEXT        NOT NULL,
	user_id       TEXT,
	name          TEXT,
	description   TEXT,
	agent_name    TEXT,
	mode          TEXT,
	total_tokens  BIGINT      NOT NULL DEFAULT 0,
	message_count BIGINT      NOT NULL DEFAULT 0,
	graph_edges   JSONB       NOT NULL DEFAULT '[]',
	metadata      JSONB,
	tags          JSONB       NOT NULL DEFAULT '[]',
	created_at    TIMESTAMPTZ NOT NULL,
	updated_at    TIMESTAMPTZ NOT NULL,
	deleted_at    TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX sessions_recent ON sessions (tenant_id, user_id, updated_at, id);

CREATE TABLE messages (
	tenant_id     TEXT        NOT NULL,
	session_id    TEXT        NOT NULL,
	seq           BIGINT      NOT NULL,
	id            TEXT        NOT NULL,
	user_id       TEXT,
	message_type  TEXT        NOT NULL DEFAULT 'user',
	content       TEXT,
	tool_calls    JSON,
	status        TEXT,
	token_count   BIGINT      NOT NULL DEFAULT 0,
	input_tokens  BIGINT      NOT NULL DEFAULT 0,
	output_tokens BIGINT      NOT NULL DEFAULT 0,
	latency_ms    BIGINT,
	model         TEXT,
	agent_name    TEXT,
	agent_path    TEXT,
	run_id        TEXT,
	trace_id      TEXT,
	span_id       TEXT,
	graph_edges   JSONB       NOT NULL DEFAULT '[]',
	metadata      JSONB,
	tags          JSONB       NOT NULL DEFAULT '[]',
	created_at    TIMESTAMPTZ NOT NULL,
	updated_at    TIMESTAMPTZ NOT NULL,
	deleted_at    TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, session_id, seq)
);
CREATE UNIQUE INDEX messages_id ON messages (tenant_id, id);

CREATE TABLE schemas (
	tenant_id    TEXT        NOT NULL,
	id           TEXT        NOT NULL,
	user_id      TEXT,
	name         TEXT        NOT NULL,
	kind         TEXT        NOT NULL,
	version      TEXT,
	description  TEXT,
	content      TEXT        NOT NULL DEFAULT '',
	json_schema  JSON        NOT NULL DEFAULT '{}',
	source       TEXT,
	origin       TEXT        NOT NULL DEFAULT '',
	content_hash TEXT,
	graph_edges  JSONB       NOT NULL DEFAULT '[]',
	metadata     JSONB,
	tags         JSONB       NOT NULL DEFAULT '[]',
	created_at   TIMESTAMPTZ NOT NULL,
	updated_at   TIMESTAMPTZ NOT NULL,
	deleted_at   TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX schemas_owner ON schemas (tenant_id, user_id, name);

CREATE TABLE resources (
	tenant_id   TEXT        NOT NULL,
	id          TEXT        NOT NULL,
	user_id     TEXT,
	name        TEXT        NOT NULL,
	uri         TEXT,
	ordinal     BIGINT      NOT NULL DEFAULT 0,
	content     TEXT        NOT NULL DEFAULT '',
	category    TEXT,
	graph_edges JSONB       NOT NULL DEFAULT '[]',
	metadata    JSONB,
	tags        JSONB       NOT NULL DEFAULT '[]',
	created_at  TIMESTAMPTZ NOT NULL,
	updated_at  TIMESTAMPTZ NOT NULL,
	deleted_at  TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX resources_owner ON resources (tenant_id, user_id, name);

CREATE TABLE users (
	tenant_id        TEXT        NOT NULL,
	id               TEXT        NOT NULL,
	user_id          TEXT        NOT NULL,
	name             TEXT        NOT NULL,
	email            TEXT,
	content          TEXT,
	interests        JSONB       NOT NULL DEFAULT '[]',
	preferred_topics JSONB       NOT NULL DEFAULT '[]',
	graph_edges      JSONB       NOT NULL DEFAULT '[]',
	metadata         JSONB,
	tags             JSONB       NOT NULL DEFAULT '[]',
	created_at       TIMESTAMPTZ NOT NULL,
	updated_at       TIMESTAMPTZ NOT NULL,
	deleted_at       TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);

-- The key index; owner is '' for shared rows, because a NULL is never unique.
CREATE TABLE kv_store (
	tenant_id       TEXT        NOT NULL,
	owner           TEXT        NOT NULL,
	entity_key      TEXT        NOT NULL,
	entity_type     TEXT        NOT NULL,
	entity_id       TEXT        NOT NULL,
	content_summary TEXT        NOT NULL DEFAULT '',
	metadata        JSONB,
	graph_edges     JSONB       NOT NULL DEFAULT '[]',
	updated_at      TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, owner, entity_key, entity_type)
);
CREATE INDEX kv_store_entity ON kv_store (tenant_id, entity_type, entity_id);
CREATE INDEX kv_store_trigrams ON kv_store USING gin (entity_key gin_trgm_ops, content_summary gin_trgm_ops);
