-- +goose Up
-- The moments from before starts_timestamp was set. The program gives them their time when
-- it starts, in small transactions: one statement would lock a large table's rows too long.
CREATE INDEX moments_untimed ON moments (tenant_id, id) WHERE starts_timestamp IS NULL;
