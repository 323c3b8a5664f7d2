-- +goose Up
-- The answer of a trace, which a rating may name, and the feedback of a tenant in order.
CREATE INDEX messages_trace ON messages (tenant_id, trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX feedback_all ON feedback (tenant_id, created_at, id);
