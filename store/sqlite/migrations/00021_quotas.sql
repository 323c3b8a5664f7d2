-- +goose Up
-- What a tenant (kind tenant, subject ''), a user or a key may use, where that differs from
-- the settings. limits is text, as in the settings.
CREATE TABLE quotas (
	tenant_id  TEXT NOT NULL,
	kind       TEXT NOT NULL,
	subject    TEXT NOT NULL,
	limits     TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	PRIMARY KEY (tenant_id, kind, subject)
) WITHOUT ROWID;
-- What they have used: requests in the minute minute_at, tokens and dollars on the day day_at,
-- both counted from 1970. A row is written where a limit is set.
CREATE TABLE quota_usage (
	tenant_id TEXT    NOT NULL,
	kind      TEXT    NOT NULL,
	subject   TEXT    NOT NULL,
	minute_at INTEGER NOT NULL DEFAULT 0,
	requests  INTEGER NOT NULL DEFAULT 0,
	day_at    INTEGER NOT NULL DEFAULT 0,
	tokens    INTEGER NOT NULL DEFAULT 0,
	cost_usd  REAL    NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, kind, subject)
) WITHOUT ROWID;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('quotas', 'quotas', '10000 100 50 1'),
	('quota_usage', 'quota_usage', '10000 100 50 1');
