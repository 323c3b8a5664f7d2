-- +goose Up
-- The feed shows a moment on the day on which it began, a reminder on that of its creation.
CREATE INDEX moments_happened ON moments (tenant_id, user_id, (CASE WHEN moment_type = 'reminder' THEN created_at ELSE COALESCE(starts_timestamp, created_at) END), id);

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('moments', 'moments_happened', '1000000 100000 1000 1 1');
