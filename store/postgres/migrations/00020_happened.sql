-- +goose Up
-- The feed shows a moment on the day on which it began, a reminder on that of its creation.
CREATE INDEX moments_happened ON moments (tenant_id, user_id, (CASE WHEN moment_type = 'reminder' THEN created_at ELSE COALESCE(starts_timestamp, created_at) END), id) WHERE user_id IS NOT NULL;
CREATE INDEX moments_happened_shared ON moments (tenant_id, (CASE WHEN moment_type = 'reminder' THEN created_at ELSE COALESCE(starts_timestamp, created_at) END), id) WHERE user_id IS NULL;
