-- +goose Up
-- tenant_id begins every key, so that the schema can be cut by tenant; no
-- triggers, no sequences, no stored code. Lists and free objects are JSONB, which
-- can be searched; what must come back as it was written is JSON: a document and
-- the calls that a model is shown again. Rows without a user have indexes of
-- their own: "user_id IS NULL" is no equality by which an index could be in order.
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
CREATE INDEX sessions_recent ON sessions (tenant_id, user_id, updated_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX sessions_shared ON sessions (tenant_id, updated_at, id) WHERE user_id IS NULL;

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
	tenant_id        TEXT        NOT NULL,
	id               TEXT        NOT NULL,
	user_id          TEXT,
	name             TEXT        NOT NULL,
	uri              TEXT,
	ordinal          BIGINT      NOT NULL DEFAULT 0,
	content          TEXT        NOT NULL DEFAULT '',
	category         TEXT,
	image_uri        TEXT,
	comment          TEXT,
	related_entities JSONB       NOT NULL DEFAULT '[]',
	rating           BIGINT,
	file_id          TEXT,
	graph_edges      JSONB       NOT NULL DEFAULT '[]',
	metadata         JSONB,
	tags             JSONB       NOT NULL DEFAULT '[]',
	created_at       TIMESTAMPTZ NOT NULL,
	updated_at       TIMESTAMPTZ NOT NULL,
	deleted_at       TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX resources_owner ON resources (tenant_id, user_id, name);
CREATE INDEX resources_recent ON resources (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX resources_shared ON resources (tenant_id, created_at, id) WHERE user_id IS NULL;
-- The chunks of a file, in order.
CREATE INDEX resources_file ON resources (tenant_id, file_id, ordinal);

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
-- scope is tenant and owner, summary_size the number of the summary's trigrams, in
-- fours: arrays, because such columns can stand in the index of the trigrams.
CREATE TABLE kv_store (
	tenant_id       TEXT        NOT NULL,
	owner           TEXT        NOT NULL,
	entity_key      TEXT        NOT NULL,
	entity_type     TEXT        NOT NULL,
	entity_id       TEXT        NOT NULL,
	content_summary TEXT        NOT NULL DEFAULT '',
	summary_size    INT2[]      GENERATED ALWAYS AS (ARRAY[least(cardinality(show_trgm(content_summary)) / 4, 63)]::INT2[]) STORED,
	scope           TEXT[]      GENERATED ALWAYS AS (ARRAY[tenant_id || E'\n' || owner]) STORED,
	metadata        JSONB,
	graph_edges     JSONB       NOT NULL DEFAULT '[]',
	updated_at      TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, owner, entity_key, entity_type)
);
CREATE INDEX kv_store_entity ON kv_store (tenant_id, entity_type, entity_id);
-- Few rows wait outside of the index: each search reads those one by one.
CREATE INDEX kv_store_trigrams ON kv_store USING gin
	(entity_key gin_trgm_ops, content_summary gin_trgm_ops, scope array_ops, summary_size array_ops) WITH (gin_pending_list_limit = 256);
-- The planner would compare every sampled value with the text that is looked
-- for; without samples it plans the same in a tenth of the time.
ALTER TABLE kv_store ALTER COLUMN content_summary SET STATISTICS 0;
ALTER TABLE kv_store ALTER COLUMN entity_key SET STATISTICS 0;

CREATE TABLE ontologies (
	tenant_id        TEXT        NOT NULL,
	id               TEXT        NOT NULL,
	user_id          TEXT,
	name             TEXT        NOT NULL,
	uri              TEXT,
	content          TEXT        NOT NULL DEFAULT '',
	category         TEXT,
	extracted_data   JSONB,
	file_id          TEXT,
	agent_schema_id  TEXT,
	confidence_score DOUBLE PRECISION,
	content_hash     TEXT,
	graph_edges      JSONB       NOT NULL DEFAULT '[]',
	metadata         JSONB,
	tags             JSONB       NOT NULL DEFAULT '[]',
	created_at       TIMESTAMPTZ NOT NULL,
	updated_at       TIMESTAMPTZ NOT NULL,
	deleted_at       TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX ontologies_owner ON ontologies (tenant_id, user_id, name);
CREATE INDEX ontologies_recent ON ontologies (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX ontologies_shared ON ontologies (tenant_id, created_at, id) WHERE user_id IS NULL;
CREATE INDEX ontologies_file ON ontologies (tenant_id, file_id);

CREATE TABLE moments (
	tenant_id            TEXT        NOT NULL,
	id                   TEXT        NOT NULL,
	user_id              TEXT,
	name                 TEXT        NOT NULL,
	moment_type          TEXT,
	summary              TEXT,
	image_uri            TEXT,
	starts_timestamp     TIMESTAMPTZ,
	ends_timestamp       TIMESTAMPTZ,
	present_persons      JSONB       NOT NULL DEFAULT '[]',
	emotion_tags         JSONB       NOT NULL DEFAULT '[]',
	topic_tags           JSONB       NOT NULL DEFAULT '[]',
	category             TEXT,
	source_session_id    TEXT,
	previous_moment_keys JSONB       NOT NULL DEFAULT '[]',
	rating               BIGINT,
	graph_edges          JSONB       NOT NULL DEFAULT '[]',
	metadata             JSONB,
	tags                 JSONB       NOT NULL DEFAULT '[]',
	created_at           TIMESTAMPTZ NOT NULL,
	updated_at           TIMESTAMPTZ NOT NULL,
	deleted_at           TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX moments_owner ON moments (tenant_id, user_id, name);
CREATE INDEX moments_recent ON moments (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX moments_shared ON moments (tenant_id, created_at, id) WHERE user_id IS NULL;
CREATE INDEX moments_session ON moments (tenant_id, source_session_id, created_at);

CREATE TABLE files (
	tenant_id         TEXT        NOT NULL,
	id                TEXT        NOT NULL,
	user_id           TEXT,
	name              TEXT        NOT NULL,
	uri               TEXT,
	mime_type         TEXT,
	size_bytes        BIGINT      NOT NULL DEFAULT 0,
	parsed_content    TEXT,
	parsed_output     JSONB,
	processing_status TEXT        NOT NULL DEFAULT 'pending',
	thumbnail_uri     TEXT,
	content_hash      TEXT,
	graph_edges       JSONB       NOT NULL DEFAULT '[]',
	metadata          JSONB,
	tags              JSONB       NOT NULL DEFAULT '[]',
	created_at        TIMESTAMPTZ NOT NULL,
	updated_at        TIMESTAMPTZ NOT NULL,
	deleted_at        TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX files_owner ON files (tenant_id, user_id, name);
CREATE INDEX files_uri ON files (tenant_id, user_id, uri);
CREATE INDEX files_recent ON files (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX files_shared ON files (tenant_id, created_at, id) WHERE user_id IS NULL;

CREATE TABLE feedback (
	tenant_id   TEXT        NOT NULL,
	id          TEXT        NOT NULL,
	user_id     TEXT,
	session_id  TEXT,
	message_id  TEXT,
	rating      BIGINT,
	comment     TEXT,
	trace_id    TEXT,
	span_id     TEXT,
	graph_edges JSONB       NOT NULL DEFAULT '[]',
	metadata    JSONB,
	tags        JSONB       NOT NULL DEFAULT '[]',
	created_at  TIMESTAMPTZ NOT NULL,
	updated_at  TIMESTAMPTZ NOT NULL,
	deleted_at  TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX feedback_recent ON feedback (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX feedback_shared ON feedback (tenant_id, created_at, id) WHERE user_id IS NULL;

-- Every state that a schema was in, numbered from 1.
CREATE TABLE schema_timemachine (
	tenant_id   TEXT        NOT NULL,
	schema_id   TEXT        NOT NULL,
	revision    BIGINT      NOT NULL,
	name        TEXT        NOT NULL,
	operation   TEXT        NOT NULL,
	content     TEXT        NOT NULL DEFAULT '',
	json_schema JSON        NOT NULL DEFAULT '{}',
	source      TEXT,
	checksum    TEXT        NOT NULL,
	user_id     TEXT,
	recorded_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, schema_id, revision)
);

-- The vector of a row's text. user_id is the row's, NULL for a shared one;
-- content_hash is the SHA-256 of the text. Each model has indexes of its own,
-- made when it is first used (see index.go).
CREATE TABLE embeddings (
	tenant_id    TEXT        NOT NULL,
	table_name   TEXT        NOT NULL,
	entity_id    TEXT        NOT NULL,
	field_name   TEXT        NOT NULL,
	model        TEXT        NOT NULL,
	dimensions   BIGINT      NOT NULL,
	content_hash TEXT        NOT NULL,
	user_id      TEXT,
	embedding    vector      NOT NULL,
	created_at   TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, table_name, entity_id, field_name, model)
);
CREATE INDEX embeddings_owner ON embeddings (tenant_id, table_name, model, user_id);
-- A vector is read whole and does not compress: up to 1536 dimensions it stays
-- beside its row, where an exact search finds it at once.
ALTER TABLE embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;
ALTER TABLE embeddings SET (toast_tuple_target = 8160);

-- The rows whose text has no vector yet. revision grows with every change of
-- the text, so that a worker cannot finish a task that was renewed meanwhile.
CREATE TABLE embedding_queue (
	tenant_id  TEXT        NOT NULL,
	table_name TEXT        NOT NULL,
	entity_id  TEXT        NOT NULL,
	field_name TEXT        NOT NULL,
	revision   BIGINT      NOT NULL,
	attempts   BIGINT      NOT NULL DEFAULT 0,
	error      TEXT,
	due_at     TIMESTAMPTZ NOT NULL,
	created_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, table_name, entity_id, field_name)
);
CREATE INDEX embedding_queue_due ON embedding_queue (due_at);

-- English words lose their endings, as the embedded engine's do; none is left out
-- for being common.
CREATE TEXT SEARCH DICTIONARY p8_stem (TEMPLATE = snowball, LANGUAGE = english);
CREATE TEXT SEARCH CONFIGURATION p8_words (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION p8_words ALTER MAPPING FOR asciiword, word, numword WITH p8_stem;

-- The words of a row's name and text, among them one for its table and owner.
CREATE TABLE keywords (
	tenant_id  TEXT     NOT NULL,
	table_name TEXT     NOT NULL,
	entity_id  TEXT     NOT NULL,
	owner      TEXT     NOT NULL,
	words      tsvector NOT NULL,
	PRIMARY KEY (tenant_id, table_name, entity_id)
);
CREATE INDEX keywords_words ON keywords USING gin (words) WITH (gin_pending_list_limit = 256);
