-- +goose Up
-- The parts of the tokens of an answer that have a price of their own.
ALTER TABLE messages ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0;
-- A report of usage reads this index alone: the rows of messages have texts and images.
CREATE INDEX messages_usage ON messages (tenant_id, created_at, owner, author, session_id, agent_name, model,
	input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, latency_ms) WHERE message_type = 'assistant';
-- What a person says about an answer in a word each: helpful, inaccurate, …
ALTER TABLE feedback ADD COLUMN categories TEXT NOT NULL DEFAULT '[]';

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('messages', 'messages_usage', '3000000 300000 1 1 1 1 1 1 1 1 1 1 1 1 1');
