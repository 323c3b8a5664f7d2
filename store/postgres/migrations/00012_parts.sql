-- +goose Up
-- The images and documents of a user's message, a JSON list; and what an answer
-- cost, as far as prices are known.
ALTER TABLE messages ADD COLUMN parts JSON;
ALTER TABLE messages ADD COLUMN cost_usd DOUBLE PRECISION NOT NULL DEFAULT 0;
