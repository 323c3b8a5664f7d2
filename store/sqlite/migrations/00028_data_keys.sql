-- +goose Up
-- The data keys of encrypted tenants, wrapped by the master key. A tenant has one, whose id
-- is 1.
CREATE TABLE data_keys (
	tenant_id TEXT NOT NULL,
	id        TEXT NOT NULL,
	wrapped   TEXT NOT NULL,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('data_keys', 'data_keys', '100 1 1');
