-- +goose Up
-- What a tenant (kind tenant, subject ''), a user or a key may use, where that differs from
-- the settings. limits is text, as in the settings.
CREATE TABLE quotas (
	tenant_id  TEXT        NOT NULL,
	kind       TEXT        NOT NULL,
	subject    TEXT        NOT NULL,
	limits     TEXT        NOT NULL,
	updated_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, kind, subject)
);
-- What they have used: requests in the minute minute_at, tokens and dollars on the day day_at,
-- both counted from 1970. A row is written where a limit is set.
CREATE TABLE quota_usage (
	tenant_id TEXT             NOT NULL,
	kind      TEXT             NOT NULL,
	subject   TEXT             NOT NULL,
	minute_at BIGINT           NOT NULL DEFAULT 0,
	requests  BIGINT           NOT NULL DEFAULT 0,
	day_at    BIGINT           NOT NULL DEFAULT 0,
	tokens    BIGINT           NOT NULL DEFAULT 0,
	cost_usd  DOUBLE PRECISION NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, kind, subject)
) WITH (fillfactor = 50);
-- They are not for callers, whatever is granted later.
ALTER TABLE quotas ENABLE ROW LEVEL SECURITY;
ALTER TABLE quota_usage ENABLE ROW LEVEL SECURITY;
