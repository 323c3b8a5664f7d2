-- +goose Up
-- The words of what was said are in the index of words, which the program keeps: those of
-- the messages that are there already, numbered in the order of time.
CREATE TEMP TABLE said AS
	SELECT tenant_id, owner, id, row_number() OVER (PARTITION BY tenant_id, owner ORDER BY created_at, id) AS n FROM messages
	WHERE message_type IN ('user', 'assistant') AND content <> '' AND deleted_at IS NULL;
INSERT INTO keyword_scopes (tenant_id, table_name, owner, given)
	SELECT tenant_id, 'messages', owner, count(*) FROM said GROUP BY 1, 3;
INSERT INTO keyword_rows (number, tenant_id, table_name, entity_id)
	SELECT s.id << 32 | t.n, t.tenant_id, 'messages', t.id
	FROM said t JOIN keyword_scopes s ON s.tenant_id = t.tenant_id AND s.table_name = 'messages' AND s.owner = t.owner;
INSERT INTO keywords (rowid, text)
	SELECT k.number, substr(m.content, 1, 20000) FROM keyword_rows k JOIN messages m ON m.tenant_id = k.tenant_id AND m.id = k.entity_id
	WHERE k.table_name = 'messages';
DROP TABLE said;
