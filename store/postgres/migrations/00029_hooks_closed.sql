-- +goose Up
-- The webhooks of runs have secrets: they are not for callers, whatever is granted later.
ALTER TABLE run_hooks ENABLE ROW LEVEL SECURITY;
