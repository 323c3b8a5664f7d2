-- +goose Up
-- A turn as something that outlives its process. rested_at is since when no
-- process is at it, or when an answer to it came since, ended_at when it ended;
-- kept_bytes is log_bytes while no process is at it.
-- No index holds a column that changes while a run is at work, but for those that
-- leave such runs out: to say that it lives and what it said is one small write.
CREATE TABLE runs (
	tenant_id       TEXT    NOT NULL,
	id              TEXT    NOT NULL,
	user_id         TEXT,
	session_id      TEXT    NOT NULL,
	agent_name      TEXT,
	model           TEXT,
	status          TEXT    NOT NULL,
	reason          TEXT    NOT NULL DEFAULT '',
	protocol        TEXT,
	message_id      TEXT,
	in_reply_to     TEXT,
	last_seq        INTEGER NOT NULL DEFAULT 0,
	log_bytes       INTEGER NOT NULL DEFAULT 0,
	kept_bytes      INTEGER NOT NULL DEFAULT 0,
	open_requests   INTEGER NOT NULL DEFAULT 0,
	idempotency_key TEXT,
	key_hash        TEXT,
	owner           TEXT    NOT NULL,
	stop_requested  INTEGER NOT NULL DEFAULT 0,
	created_at      TEXT    NOT NULL,
	updated_at      TEXT    NOT NULL,
	rested_at       TEXT,
	ended_at        TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX runs_recent ON runs (tenant_id, user_id, created_at, id);
CREATE INDEX runs_session ON runs (tenant_id, session_id, created_at, id);
CREATE INDEX runs_live ON runs (tenant_id, session_id, created_at, id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX runs_key ON runs (tenant_id, user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- A NULL is never unique.
CREATE UNIQUE INDEX runs_key_shared ON runs (tenant_id, idempotency_key) WHERE user_id IS NULL AND idempotency_key IS NOT NULL;
-- For all tenants: what a process left behind, what can go on, what is old.
CREATE INDEX runs_running ON runs (status) WHERE rested_at IS NULL;
CREATE INDEX runs_ready ON runs (rested_at) WHERE status = 'waiting' AND open_requests = 0 AND reason <> 'tool_calls';
CREATE INDEX runs_idle ON runs (rested_at) WHERE ended_at IS NULL AND rested_at IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended_at, kept_bytes) WHERE ended_at IS NOT NULL;

-- The log in pieces: the events first_seq to last_seq, lines of JSON.
CREATE TABLE run_events (
	tenant_id TEXT    NOT NULL,
	run_id    TEXT    NOT NULL,
	first_seq INTEGER NOT NULL,
	last_seq  INTEGER NOT NULL,
	data      TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, run_id, first_seq)
) WITHOUT ROWID;

-- What a run must not do twice, in order. Number 0 is what it takes to take the
-- run up again. It goes when the run has ended.
CREATE TABLE run_journal (
	tenant_id TEXT    NOT NULL,
	run_id    TEXT    NOT NULL,
	seq       INTEGER NOT NULL,
	thread    TEXT    NOT NULL,
	data      TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, run_id, seq)
) WITHOUT ROWID;

-- What runs ask their users, and who answered what and when.
CREATE TABLE run_requests (
	tenant_id       TEXT NOT NULL,
	id              TEXT NOT NULL,
	user_id         TEXT,
	run_id          TEXT NOT NULL,
	session_id      TEXT NOT NULL,
	kind            TEXT NOT NULL,
	agent_path      TEXT NOT NULL DEFAULT '',
	tool_name       TEXT,
	tool_id         TEXT,
	arguments       TEXT,
	message         TEXT NOT NULL,
	response_schema TEXT,
	status          TEXT NOT NULL,
	content         TEXT,
	comment         TEXT,
	decided_by      TEXT,
	decided_via     TEXT,
	decided_at      TEXT,
	created_at      TEXT NOT NULL,
	expires_at      TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX run_requests_recent ON run_requests (tenant_id, user_id, created_at, id);
CREATE INDEX run_requests_open ON run_requests (tenant_id, user_id, created_at, id) WHERE status = 'open';
CREATE INDEX run_requests_run ON run_requests (tenant_id, run_id, created_at, id);
CREATE INDEX run_requests_session ON run_requests (tenant_id, session_id, created_at, id);
CREATE INDEX run_requests_due ON run_requests (expires_at) WHERE status = 'open';

-- Messages that an answer made again has replaced: hidden, their numbers never
-- given again. message_count leaves them out.
ALTER TABLE sessions ADD COLUMN dropped_messages INTEGER NOT NULL DEFAULT 0;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('runs', 'runs', '1000000 100000 1'),
	('runs', 'runs_recent', '1000000 100000 100 1 1'),
	('runs', 'runs_session', '1000000 100000 10 1 1'),
	('runs', 'runs_live', '10000 1000 1 1 1'),
	('runs', 'runs_key', '1000000 100000 100 1'),
	('runs', 'runs_key_shared', '100000 10000 1'),
	('runs', 'runs_running', '100 100'),
	('runs', 'runs_ready', '100 1'),
	('runs', 'runs_idle', '10000 1'),
	('runs', 'runs_ended', '1000000 1 1'),
	('run_events', 'run_events', '10000000 1000000 100 1'),
	('run_journal', 'run_journal', '100000 10000 10 1'),
	('run_requests', 'run_requests', '1000000 100000 1'),
	('run_requests', 'run_requests_recent', '1000000 100000 100 1 1'),
	('run_requests', 'run_requests_open', '10000 1000 10 1 1'),
	('run_requests', 'run_requests_run', '1000000 100000 2 1 1'),
	('run_requests', 'run_requests_session', '1000000 100000 10 1 1'),
	('run_requests', 'run_requests_due', '10000 1');
