-- +goose Up
-- Configurations of evaluations, by the names that users give them.
CREATE TABLE experiments (
	tenant_id   TEXT NOT NULL,
	id          TEXT NOT NULL,
	user_id     TEXT,
	name        TEXT NOT NULL,
	status      TEXT NOT NULL,
	config      TEXT NOT NULL,
	created_at  TEXT NOT NULL,
	updated_at  TEXT NOT NULL,
	last_run_at TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX experiments_name ON experiments (tenant_id, user_id, name);

-- Judged runs of agents over sets of cases. experiment is a name.
CREATE TABLE evaluations (
	tenant_id  TEXT NOT NULL,
	id         TEXT NOT NULL,
	user_id    TEXT,
	name       TEXT NOT NULL,
	experiment TEXT,
	status     TEXT NOT NULL,
	plan       TEXT NOT NULL,
	summary    TEXT,
	created_at TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	ended_at   TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX evaluations_recent ON evaluations (tenant_id, user_id, created_at, id);

-- What came of each case: the question, the answer, the verdicts.
CREATE TABLE evaluation_results (
	tenant_id     TEXT    NOT NULL,
	evaluation_id TEXT    NOT NULL,
	seq           INTEGER NOT NULL,
	data          TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, evaluation_id, seq)
) WITHOUT ROWID;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('experiments', 'experiments', '10000 1000 1'),
	('experiments', 'experiments_name', '10000 1000 10 1'),
	('evaluations', 'evaluations', '100000 10000 1'),
	('evaluations', 'evaluations_recent', '100000 10000 100 1 1'),
	('evaluation_results', 'evaluation_results', '10000000 1000000 200 1');
