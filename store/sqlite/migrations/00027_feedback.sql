-- +goose Up
-- The answer of a trace, which a rating may name, and the feedback of a tenant in order.
CREATE INDEX messages_trace ON messages (tenant_id, trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX feedback_all ON feedback (tenant_id, created_at, id);

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('messages', 'messages_trace', '3000000 300000 3'),
	('feedback', 'feedback_all', '1000000 100000 1 1');
