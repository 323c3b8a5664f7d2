-- +goose Up
-- A turn as something that outlives its process. rested_at is since when no
-- process is at it, or when an answer to it came since, ended_at when it ended;
-- kept_bytes is log_bytes while no process is at it.
-- No index holds a column that changes while a run is at work, but for those that
-- leave such runs out: to say that it lives and what it said is one small write.
CREATE TABLE runs (
	tenant_id       TEXT        NOT NULL,
	id              TEXT        NOT NULL,
	user_id         TEXT,
	session_id      TEXT        NOT NULL,
	agent_name      TEXT,
	model           TEXT,
	status          TEXT        NOT NULL,
	reason          TEXT        NOT NULL DEFAULT '',
	protocol        TEXT,
	message_id      TEXT,
	in_reply_to     TEXT,
	last_seq        BIGINT      NOT NULL DEFAULT 0,
	log_bytes       BIGINT      NOT NULL DEFAULT 0,
	kept_bytes      BIGINT      NOT NULL DEFAULT 0,
	open_requests   BIGINT      NOT NULL DEFAULT 0,
	idempotency_key TEXT,
	key_hash        TEXT,
	owner           TEXT        NOT NULL,
	stop_requested  BOOLEAN     NOT NULL DEFAULT false,
	created_at      TIMESTAMPTZ NOT NULL,
	updated_at      TIMESTAMPTZ NOT NULL,
	rested_at       TIMESTAMPTZ,
	ended_at        TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX runs_recent ON runs (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX runs_shared ON runs (tenant_id, created_at, id) WHERE user_id IS NULL;
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
	tenant_id TEXT   NOT NULL,
	run_id    TEXT   NOT NULL,
	first_seq BIGINT NOT NULL,
	last_seq  BIGINT NOT NULL,
	data      TEXT   NOT NULL,
	PRIMARY KEY (tenant_id, run_id, first_seq)
);

-- What a run must not do twice, in order. Number 0 is what it takes to take the
-- run up again. It goes when the run has ended.
CREATE TABLE run_journal (
	tenant_id TEXT   NOT NULL,
	run_id    TEXT   NOT NULL,
	seq       BIGINT NOT NULL,
	thread    TEXT   NOT NULL,
	data      JSON   NOT NULL,
	PRIMARY KEY (tenant_id, run_id, seq)
);

-- What runs ask their users, and who answered what and when.
CREATE TABLE run_requests (
	tenant_id       TEXT        NOT NULL,
	id              TEXT        NOT NULL,
	user_id         TEXT,
	run_id          TEXT        NOT NULL,
	session_id      TEXT        NOT NULL,
	kind            TEXT        NOT NULL,
	agent_path      TEXT        NOT NULL DEFAULT '',
	tool_name       TEXT,
	tool_id         TEXT,
	arguments       JSON,
	message         TEXT        NOT NULL,
	response_schema JSON,
	status          TEXT        NOT NULL,
	content         JSON,
	comment         TEXT,
	decided_by      TEXT,
	decided_via     TEXT,
	decided_at      TIMESTAMPTZ,
	created_at      TIMESTAMPTZ NOT NULL,
	expires_at      TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX run_requests_recent ON run_requests (tenant_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
CREATE INDEX run_requests_shared ON run_requests (tenant_id, created_at, id) WHERE user_id IS NULL;
CREATE INDEX run_requests_open ON run_requests (tenant_id, user_id, created_at, id) WHERE status = 'open' AND user_id IS NOT NULL;
CREATE INDEX run_requests_open_shared ON run_requests (tenant_id, created_at, id) WHERE status = 'open' AND user_id IS NULL;
CREATE INDEX run_requests_run ON run_requests (tenant_id, run_id, created_at, id);
CREATE INDEX run_requests_session ON run_requests (tenant_id, session_id, created_at, id);
CREATE INDEX run_requests_due ON run_requests (expires_at) WHERE status = 'open';

-- Messages that an answer made again has replaced: hidden, their numbers never
-- given again. message_count leaves them out.
ALTER TABLE sessions ADD COLUMN dropped_messages BIGINT NOT NULL DEFAULT 0;

-- Nothing of these is for callers, whatever is granted later.
ALTER TABLE runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_journal ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_requests ENABLE ROW LEVEL SECURITY;
