-- +goose Up
-- The run of the agent that a row is of, and the call that asked that agent: a delegated
-- agent has a run of its own below the one in run_id.
ALTER TABLE messages ADD COLUMN agent_run_id TEXT;
ALTER TABLE messages ADD COLUMN parent_call_id TEXT;
-- What the run consumed, every agent in it included. A message has what its agent
-- consumed itself.
ALTER TABLE runs ADD COLUMN input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cost_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
-- The kind of client: web, mobile, cli. A session has that of its newest turn.
ALTER TABLE runs ADD COLUMN client_id TEXT;
ALTER TABLE sessions ADD COLUMN client_id TEXT;
