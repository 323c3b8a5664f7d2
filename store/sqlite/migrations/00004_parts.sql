-- +goose Up
-- The images and documents of a user's message, a JSON list; and what an answer
-- cost, as far as prices are known.
ALTER TABLE messages ADD COLUMN parts TEXT;
ALTER TABLE messages ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0;
