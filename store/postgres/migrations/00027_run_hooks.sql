-- +goose Up
-- When the status changed last: lists of tasks are ordered by it. The indexes are not written
-- while a run is at work. The default is for older processes, which do not know the column.
ALTER TABLE runs ADD COLUMN changed_at TIMESTAMPTZ NOT NULL DEFAULT now();
UPDATE runs SET changed_at = COALESCE(ended_at, rested_at, created_at);
CREATE INDEX runs_changed ON runs (tenant_id, user_id, changed_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX runs_changed_shared ON runs (tenant_id, changed_at, id) WHERE user_id IS NULL;

-- Who wants to hear when the status of a run changes. due_at is the change that a hook has to be
-- told about, if there is one.
CREATE TABLE run_hooks (
	tenant_id  TEXT        NOT NULL,
	run_id     TEXT        NOT NULL,
	id         TEXT        NOT NULL,
	user_id    TEXT,
	data       JSON        NOT NULL,
	due_at     TIMESTAMPTZ,
	created_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, run_id, id)
);
CREATE INDEX run_hooks_due ON run_hooks (due_at) WHERE due_at IS NOT NULL;
