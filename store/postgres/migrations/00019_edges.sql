-- +goose Up
-- The edges of the key index from their targets, for walks against their direction.
-- Package store writes them with the keys. relation_key and target_key are as NormalizeKey
-- makes them; a weight of 0 is 1.
CREATE TABLE kv_edges (
	tenant_id    TEXT             NOT NULL,
	entity_type  TEXT             NOT NULL,
	entity_id    TEXT             NOT NULL,
	target_key   TEXT             NOT NULL,
	relation_key TEXT             NOT NULL,
	owner        TEXT             NOT NULL,
	entity_key   TEXT COLLATE "C" NOT NULL,
	relation     TEXT             NOT NULL,
	weight       DOUBLE PRECISION NOT NULL,
	PRIMARY KEY (tenant_id, entity_type, entity_id, target_key, relation_key)
);
-- The heaviest edges to a key, and those of one relation: a hub has 100,000.
CREATE INDEX kv_edges_target ON kv_edges (tenant_id, owner, target_key, weight DESC, entity_key);
CREATE INDEX kv_edges_relation ON kv_edges (tenant_id, owner, target_key, relation_key, weight DESC, entity_key);

-- The keys whose edges are not in kv_edges yet: SQL cannot normalise targets, so the
-- program indexes them when it starts.
CREATE TABLE kv_edges_waiting (
	tenant_id   TEXT NOT NULL,
	owner       TEXT NOT NULL,
	entity_key  TEXT NOT NULL,
	entity_type TEXT NOT NULL,
	PRIMARY KEY (tenant_id, owner, entity_key, entity_type)
);
INSERT INTO kv_edges_waiting SELECT tenant_id, owner, entity_key, entity_type FROM kv_store WHERE graph_edges <> '[]';

ALTER TABLE kv_edges ENABLE ROW LEVEL SECURITY;
ALTER TABLE kv_edges_waiting ENABLE ROW LEVEL SECURITY;
