-- +goose Up
-- How long a tenant keeps what is of a kind (sessions, moments, …), where that differs from
-- the settings. 0 seconds are for ever.
CREATE TABLE retentions (
	tenant_id  TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	seconds    INTEGER NOT NULL,
	updated_at TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, kind)
) WITHOUT ROWID;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('retentions', 'retentions', '100 5 1');
