-- +goose Up
ALTER TABLE resources ADD COLUMN image_uri TEXT;
ALTER TABLE resources ADD COLUMN comment TEXT;
ALTER TABLE resources ADD COLUMN related_entities TEXT NOT NULL DEFAULT '[]';
ALTER TABLE resources ADD COLUMN rating INTEGER;
ALTER TABLE resources ADD COLUMN file_id TEXT;
CREATE INDEX resources_recent ON resources (tenant_id, user_id, created_at, id);
-- The chunks of a file, in order.
CREATE INDEX resources_file ON resources (tenant_id, file_id, ordinal);

CREATE TABLE ontologies (
	tenant_id        TEXT NOT NULL,
	id               TEXT NOT NULL,
	user_id          TEXT,
	name             TEXT NOT NULL,
	uri              TEXT,
	content          TEXT NOT NULL DEFAULT '',
	category         TEXT,
	extracted_data   TEXT,
	file_id          TEXT,
	agent_schema_id  TEXT,
	confidence_score REAL,
	content_hash     TEXT,
	graph_edges      TEXT NOT NULL DEFAULT '[]',
	metadata         TEXT,
	tags             TEXT NOT NULL DEFAULT '[]',
	created_at       TEXT NOT NULL,
	updated_at       TEXT NOT NULL,
	deleted_at       TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX ontologies_owner ON ontologies (tenant_id, user_id, name);
CREATE INDEX ontologies_recent ON ontologies (tenant_id, user_id, created_at, id);
CREATE INDEX ontologies_file ON ontologies (tenant_id, file_id);

CREATE TABLE moments (
	tenant_id            TEXT NOT NULL,
	id                   TEXT NOT NULL,
	user_id              TEXT,
	name                 TEXT NOT NULL,
	moment_type          TEXT,
	summary              TEXT,
	image_uri            TEXT,
	starts_timestamp     TEXT,
	ends_timestamp       TEXT,
	present_persons      TEXT NOT NULL DEFAULT '[]',
	emotion_tags         TEXT NOT NULL DEFAULT '[]',
	topic_tags           TEXT NOT NULL DEFAULT '[]',
	category             TEXT,
	source_session_id    TEXT,
	previous_moment_keys TEXT NOT NULL DEFAULT '[]',
	rating               INTEGER,
	graph_edges          TEXT NOT NULL DEFAULT '[]',
	metadata             TEXT,
	tags                 TEXT NOT NULL DEFAULT '[]',
	created_at           TEXT NOT NULL,
	updated_at           TEXT NOT NULL,
	deleted_at           TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX moments_owner ON moments (tenant_id, user_id, name);
CREATE INDEX moments_recent ON moments (tenant_id, user_id, created_at, id);
CREATE INDEX moments_session ON moments (tenant_id, source_session_id, created_at);

CREATE TABLE files (
	tenant_id         TEXT    NOT NULL,
	id                TEXT    NOT NULL,
	user_id           TEXT,
	name              TEXT    NOT NULL,
	uri               TEXT,
	mime_type         TEXT,
	size_bytes        INTEGER NOT NULL DEFAULT 0,
	parsed_content    TEXT,
	parsed_output     TEXT,
	processing_status TEXT    NOT NULL DEFAULT 'pending',
	thumbnail_uri     TEXT,
	content_hash      TEXT,
	graph_edges       TEXT    NOT NULL DEFAULT '[]',
	metadata          TEXT,
	tags              TEXT    NOT NULL DEFAULT '[]',
	created_at        TEXT    NOT NULL,
	updated_at        TEXT    NOT NULL,
	deleted_at        TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX files_owner ON files (tenant_id, user_id, name);
CREATE INDEX files_uri ON files (tenant_id, user_id, uri);
CREATE INDEX files_recent ON files (tenant_id, user_id, created_at, id);

CREATE TABLE feedback (
	tenant_id   TEXT NOT NULL,
	id          TEXT NOT NULL,
	user_id     TEXT,
	session_id  TEXT,
	message_id  TEXT,
	rating      INTEGER,
	comment     TEXT,
	trace_id    TEXT,
	span_id     TEXT,
	graph_edges TEXT NOT NULL DEFAULT '[]',
	metadata    TEXT,
	tags        TEXT NOT NULL DEFAULT '[]',
	created_at  TEXT NOT NULL,
	updated_at  TEXT NOT NULL,
	deleted_at  TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX feedback_recent ON feedback (tenant_id, user_id, created_at, id);

-- Every state that a schema was in, numbered from 1.
CREATE TABLE schema_timemachine (
	tenant_id   TEXT    NOT NULL,
	schema_id   TEXT    NOT NULL,
	revision    INTEGER NOT NULL,
	name        TEXT    NOT NULL,
	operation   TEXT    NOT NULL,
	content     TEXT    NOT NULL DEFAULT '',
	json_schema TEXT    NOT NULL DEFAULT '{}',
	source      TEXT,
	checksum    TEXT    NOT NULL,
	user_id     TEXT,
	recorded_at TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, schema_id, revision)
);

-- The vector of a row's text: little-endian float32. user_id is the row's, NULL
-- for a shared one; content_hash is the SHA-256 of the text.
CREATE TABLE embeddings (
	tenant_id    TEXT    NOT NULL,
	table_name   TEXT    NOT NULL,
	entity_id    TEXT    NOT NULL,
	field_name   TEXT    NOT NULL,
	model        TEXT    NOT NULL,
	dimensions   INTEGER NOT NULL,
	content_hash TEXT    NOT NULL,
	user_id      TEXT,
	embedding    BLOB    NOT NULL,
	created_at   TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, table_name, model, entity_id, field_name)
);
CREATE INDEX embeddings_entity ON embeddings (tenant_id, table_name, entity_id);

-- The rows whose text has no vector yet. revision grows with every change of
-- the text, so that a worker cannot finish a task that was renewed meanwhile.
CREATE TABLE embedding_queue (
	tenant_id  TEXT    NOT NULL,
	table_name TEXT    NOT NULL,
	entity_id  TEXT    NOT NULL,
	field_name TEXT    NOT NULL,
	revision   INTEGER NOT NULL,
	attempts   INTEGER NOT NULL DEFAULT 0,
	error      TEXT,
	due_at     TEXT    NOT NULL,
	created_at TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, table_name, entity_id, field_name)
) WITHOUT ROWID;
CREATE INDEX embedding_queue_due ON embedding_queue (due_at);

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('resources', 'resources_recent', '1000000 100000 1000 1 1'),
	('resources', 'resources_file', '1000000 100000 20 1'),
	('ontologies', 'sqlite_autoindex_ontologies_1', '1000000 100000 1'),
	('ontologies', 'ontologies_owner', '1000000 100000 1000 1'),
	('ontologies', 'ontologies_recent', '1000000 100000 1000 1 1'),
	('ontologies', 'ontologies_file', '1000000 100000 1'),
	('moments', 'sqlite_autoindex_moments_1', '1000000 100000 1'),
	('moments', 'moments_owner', '1000000 100000 1000 1'),
	('moments', 'moments_recent', '1000000 100000 1000 1 1'),
	('moments', 'moments_session', '1000000 100000 50 1'),
	('files', 'sqlite_autoindex_files_1', '1000000 100000 1'),
	('files', 'files_owner', '1000000 100000 1000 1'),
	('files', 'files_uri', '1000000 100000 1000 1'),
	('files', 'files_recent', '1000000 100000 1000 1 1'),
	('feedback', 'sqlite_autoindex_feedback_1', '1000000 100000 1'),
	('feedback', 'feedback_recent', '1000000 100000 1000 1 1'),
	('schema_timemachine', 'sqlite_autoindex_schema_timemachine_1', '100000 10000 10 1'),
	('embeddings', 'sqlite_autoindex_embeddings_1', '1000000 100000 50000 25000 1 1'),
	('embeddings', 'embeddings_entity', '1000000 100000 50000 1'),
	('embedding_queue', 'embedding_queue', '100000 10000 5000 1 1'),
	('embedding_queue', 'embedding_queue_due', '100000 1');
