-- +goose Up
-- The edges of the key index from their targets, for walks against their direction.
-- Package store writes them with the keys. relation_key and target_key are as NormalizeKey
-- makes them; a weight of 0 is 1.
CREATE TABLE kv_edges (
	tenant_id    TEXT NOT NULL,
	entity_type  TEXT NOT NULL,
	entity_id    TEXT NOT NULL,
	target_key   TEXT NOT NULL,
	relation_key TEXT NOT NULL,
	owner        TEXT NOT NULL,
	entity_key   TEXT NOT NULL,
	relation     TEXT NOT NULL,
	weight       REAL NOT NULL,
	PRIMARY KEY (tenant_id, entity_type, entity_id, target_key, relation_key)
) WITHOUT ROWID;
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
) WITHOUT ROWID;
INSERT INTO kv_edges_waiting SELECT tenant_id, owner, entity_key, entity_type FROM kv_store WHERE graph_edges <> '[]';

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('kv_edges', 'kv_edges', '1000000 100000 30000 3 2 1'),
	('kv_edges', 'kv_edges_target', '1000000 100000 1000 10 5 1'),
	('kv_edges', 'kv_edges_relation', '1000000 100000 1000 10 5 3 1'),
	('kv_edges_waiting', 'kv_edges_waiting', '1000 100 10 1 1');
