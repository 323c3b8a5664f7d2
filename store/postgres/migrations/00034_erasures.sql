-- +goose Up
-- The users whose data are being deleted, or were deleted lately. While finished_at is
-- NULL, the program refuses what would create rows of the user. deleted counts rows.
CREATE TABLE erasures (
	tenant_id    TEXT        NOT NULL,
	user_id      TEXT        NOT NULL,
	id           TEXT        NOT NULL,
	deleted      BIGINT      NOT NULL DEFAULT 0,
	requested_at TIMESTAMPTZ NOT NULL,
	finished_at  TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, user_id)
);
-- It is not for callers, whatever is granted later.
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;

-- The rows that a guest wrote in sessions of others.
CREATE INDEX messages_author ON messages (tenant_id, author) WHERE author IS NOT NULL;
CREATE INDEX runs_author ON runs (tenant_id, author) WHERE author IS NOT NULL;
