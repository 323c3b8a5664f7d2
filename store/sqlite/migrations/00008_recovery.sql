-- +goose Up
-- attempts counts how often a run's process died under it, restarts how often it was
-- interrupted at all: only a run that was has text in its log that does not count.
ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
-- For all tenants: what can be resumed, runs that killed a process last.
CREATE INDEX runs_interrupted ON runs (attempts, rested_at) WHERE status = 'interrupted';

-- The processes that share the database and run turns. beats grows while a process
-- lives; one whose beats stand still is dead.
CREATE TABLE processes (
	owner TEXT    NOT NULL PRIMARY KEY,
	beats INTEGER NOT NULL
) WITHOUT ROWID;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('runs', 'runs_interrupted', '1000 500 1'),
	('processes', 'processes', '10 1');
