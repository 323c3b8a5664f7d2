-- +goose Up
-- The moments from before starts_timestamp was set. The program gives them their time when
-- it starts, in small transactions.
CREATE INDEX moments_untimed ON moments (tenant_id, id) WHERE starts_timestamp IS NULL;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('moments', 'moments_untimed', '1000 100 1');
