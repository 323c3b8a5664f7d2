-- +goose Up
-- How long a tenant keeps what is of a kind (sessions, moments, …), where that differs from
-- the settings. 0 seconds are for ever.
CREATE TABLE retentions (
	tenant_id  TEXT        NOT NULL,
	kind       TEXT        NOT NULL,
	seconds    BIGINT      NOT NULL,
	updated_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, kind)
);
-- They are not for callers, whatever is granted later.
ALTER TABLE retentions ENABLE ROW LEVEL SECURITY;
