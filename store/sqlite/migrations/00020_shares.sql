-- +goose Up
-- author: the guest in whose turn a row of a shared session was written, and whose run it is.
ALTER TABLE messages ADD COLUMN author TEXT;
ALTER TABLE runs ADD COLUMN author TEXT;

-- Whom the owner of a session lets into it: a user of the tenant, or whoever has the secret of a
-- link, of which only the hash is here.
CREATE TABLE session_shares (
	tenant_id   TEXT NOT NULL,
	id          TEXT NOT NULL,
	owner       TEXT NOT NULL,
	session_id  TEXT NOT NULL,
	user_id     TEXT,
	role        TEXT NOT NULL,
	secret_hash TEXT,
	created_at  TEXT NOT NULL,
	expires_at  TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX session_shares_session ON session_shares (tenant_id, owner, session_id, user_id);
CREATE INDEX session_shares_guest ON session_shares (tenant_id, user_id);
-- The one thing that a secret is looked up by, before the tenant is known.
CREATE UNIQUE INDEX session_shares_link ON session_shares (secret_hash) WHERE secret_hash IS NOT NULL;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('session_shares', 'session_shares', '100000 10000 1'),
	('session_shares', 'session_shares_session', '100000 10000 100 2 1'),
	('session_shares', 'session_shares_guest', '100000 10000 10'),
	('session_shares', 'session_shares_link', '10000 1');
