-- +goose Up
-- The data keys of encrypted tenants, wrapped by the master key. A tenant has one, whose id
-- is 1.
CREATE TABLE data_keys (
	tenant_id TEXT NOT NULL,
	id        TEXT NOT NULL,
	wrapped   TEXT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
-- They are not for callers, whatever is granted later.
ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
