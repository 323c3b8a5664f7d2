-- +goose Up
-- The version of the agent's document that a run began with: its number, if it has one, and the
-- hash of its text, which schema_timemachine has as checksum.
ALTER TABLE runs ADD COLUMN agent_version TEXT;
ALTER TABLE runs ADD COLUMN agent_hash TEXT;
