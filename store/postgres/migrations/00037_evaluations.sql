-- +goose Up
-- Configurations of evaluations, by the names that users give them.
CREATE TABLE experiments (
	tenant_id   TEXT        NOT NULL,
	id          TEXT        NOT NULL,
	user_id     TEXT,
	name        TEXT        NOT NULL,
	status      TEXT        NOT NULL,
	config      JSON        NOT NULL,
	created_at  TIMESTAMPTZ NOT NULL,
	updated_at  TIMESTAMPTZ NOT NULL,
	last_run_at TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX experiments_name ON experiments (tenant_id, user_id, name);

-- Judged runs of agents over sets of cases. experiment is a name.
CREATE TABLE evaluations (
	tenant_id  TEXT        NOT NULL,
	id         TEXT        NOT NULL,
	user_id    TEXT,
	name       TEXT        NOT NULL,
	experiment TEXT,
	status     TEXT        NOT NULL,
	plan       JSON        NOT NULL,
	summary    JSON,
	created_at TIMESTAMPTZ NOT NULL,
	updated_at TIMESTAMPTZ NOT NULL,
	ended_at   TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX evaluations_recent ON evaluations (tenant_id, user_id, created_at, id);

-- What came of each case: the question, the answer, the verdicts.
CREATE TABLE evaluation_results (
	tenant_id     TEXT   NOT NULL,
	evaluation_id TEXT   NOT NULL,
	seq           BIGINT NOT NULL,
	data          JSON   NOT NULL,
	PRIMARY KEY (tenant_id, evaluation_id, seq)
);
-- They are not for callers, whatever is granted later.
ALTER TABLE experiments ENABLE ROW LEVEL SECURITY;
ALTER TABLE evaluations ENABLE ROW LEVEL SECURITY;
ALTER TABLE evaluation_results ENABLE ROW LEVEL SECURITY;
