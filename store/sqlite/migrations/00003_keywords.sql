-- +goose Up
-- What is searched by words: the name of a row and its text, under a number
-- whose upper half tells whose row it is, so that a search needs no other table
-- to leave out what the caller may not see. The program keeps these tables, in
-- the transaction of the row.
CREATE TABLE keyword_scopes (
	id         INTEGER PRIMARY KEY,
	tenant_id  TEXT    NOT NULL,
	table_name TEXT    NOT NULL,
	-- owner is '' for shared rows.
	owner      TEXT    NOT NULL,
	-- given counts the numbers that were given.
	given      INTEGER NOT NULL,
	UNIQUE (tenant_id, table_name, owner)
);
CREATE TABLE keyword_rows (
	-- scope << 32 | n
	number     INTEGER PRIMARY KEY,
	tenant_id  TEXT NOT NULL,
	table_name TEXT NOT NULL,
	entity_id  TEXT NOT NULL,
	UNIQUE (tenant_id, table_name, entity_id)
);
CREATE VIRTUAL TABLE keywords USING fts5 (
	text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

-- The rows that are there already.
CREATE TEMP TABLE texts AS
	SELECT tenant_id, 'resources' AS table_name, id, coalesce(user_id, '') AS owner, name FROM resources WHERE deleted_at IS NULL
	UNION ALL
	SELECT tenant_id, 'ontologies', id, coalesce(user_id, ''), name FROM ontologies WHERE deleted_at IS NULL
	UNION ALL
	SELECT tenant_id, 'moments', id, coalesce(user_id, ''), name FROM moments WHERE deleted_at IS NULL
	UNION ALL
	SELECT tenant_id, 'schemas', id, coalesce(user_id, ''), name FROM schemas WHERE deleted_at IS NULL;
INSERT INTO keyword_scopes (tenant_id, table_name, owner, given)
	SELECT tenant_id, table_name, owner, count(*) FROM texts GROUP BY 1, 2, 3;
INSERT INTO keyword_rows (number, tenant_id, table_name, entity_id)
	SELECT s.id << 32 | row_number() OVER (PARTITION BY s.id ORDER BY t.id), t.tenant_id, t.table_name, t.id
	FROM texts t JOIN keyword_scopes s USING (tenant_id, table_name, owner);
INSERT INTO keywords (rowid, text)
	SELECT k.number, substr(t.name || char(10) || coalesce(CASE t.table_name
		WHEN 'resources' THEN (SELECT content FROM resources x WHERE x.tenant_id = t.tenant_id AND x.id = t.id)
		WHEN 'ontologies' THEN (SELECT content FROM ontologies x WHERE x.tenant_id = t.tenant_id AND x.id = t.id)
		WHEN 'moments' THEN (SELECT summary FROM moments x WHERE x.tenant_id = t.tenant_id AND x.id = t.id)
		ELSE (SELECT description FROM schemas x WHERE x.tenant_id = t.tenant_id AND x.id = t.id)
	END, ''), 1, 100000)
	FROM texts t JOIN keyword_rows k ON k.tenant_id = t.tenant_id AND k.table_name = t.table_name AND k.entity_id = t.id;
DROP TABLE texts;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('keyword_scopes', 'sqlite_autoindex_keyword_scopes_1', '10000 4 2 1'),
	('keyword_rows', 'sqlite_autoindex_keyword_rows_1', '1000000 100000 50000 1');
