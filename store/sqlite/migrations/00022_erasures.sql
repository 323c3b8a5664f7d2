-- +goose Up
-- The users whose data are being deleted, or were deleted lately. While finished_at is
-- NULL, the program refuses what would create rows of the user. deleted counts rows.
CREATE TABLE erasures (
	tenant_id    TEXT    NOT NULL,
	user_id      TEXT    NOT NULL,
	id           TEXT    NOT NULL,
	deleted      INTEGER NOT NULL DEFAULT 0,
	requested_at TEXT    NOT NULL,
	finished_at  TEXT,
	PRIMARY KEY (tenant_id, user_id)
) WITHOUT ROWID;

-- The rows that a guest wrote in sessions of others.
CREATE INDEX messages_author ON messages (tenant_id, author) WHERE author IS NOT NULL;
CREATE INDEX runs_author ON runs (tenant_id, author) WHERE author IS NOT NULL;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('erasures', 'erasures', '1000 100 1'),
	('messages', 'messages_author', '10000 1000 100'),
	('runs', 'runs_author', '1000 100 10');
