-- +goose Up
-- When the status changed last: lists of tasks are ordered by it. The index is not written
-- while a run is at work.
ALTER TABLE runs ADD COLUMN changed_at TEXT NOT NULL DEFAULT '';
UPDATE runs SET changed_at = COALESCE(ended_at, rested_at, created_at);
CREATE INDEX runs_changed ON runs (tenant_id, user_id, changed_at, id);

-- Who wants to hear when the status of a run changes. due_at is the change that a hook has to be
-- told about, if there is one.
CREATE TABLE run_hooks (
	tenant_id  TEXT    NOT NULL,
	run_id     TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	user_id    TEXT,
	data       TEXT    NOT NULL,
	due_at     TEXT,
	created_at TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, run_id, id)
) WITHOUT ROWID;
CREATE INDEX run_hooks_due ON run_hooks (due_at) WHERE due_at IS NOT NULL;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('runs', 'runs_changed', '1000000 100000 100 1 1'),
	('run_hooks', 'run_hooks', '10000 1000 1 1'),
	('run_hooks', 'run_hooks_due', '100 1');
