-- +goose Up
-- API keys, and the tokens of logins with a password (kind login). The store has only the
-- hash of a key. It is not unique, so that the table can be partitioned by tenant: two keys
-- of 256 random bits never have the same one.
CREATE TABLE api_keys (
	tenant_id    TEXT NOT NULL,
	id           TEXT NOT NULL,
	user_id      TEXT,
	email        TEXT,
	kind         TEXT NOT NULL,
	name         TEXT NOT NULL,
	role         TEXT NOT NULL,
	prefix       TEXT NOT NULL,
	hash         TEXT NOT NULL,
	created_by   TEXT,
	made_with    TEXT,
	created_at   TEXT NOT NULL,
	last_used_at TEXT,
	expires_at   TEXT,
	revoked_at   TEXT,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_owner ON api_keys (tenant_id, kind, user_id);
CREATE UNIQUE INDEX api_keys_name ON api_keys (tenant_id, COALESCE(user_id, ''), name) WHERE kind = 'key' AND revoked_at IS NULL;

-- Local users, who log in with a password.
CREATE TABLE accounts (
	tenant_id   TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	email       TEXT NOT NULL,
	role        TEXT NOT NULL,
	password    TEXT NOT NULL,
	created_by  TEXT,
	created_at  TEXT NOT NULL,
	password_at TEXT NOT NULL,
	PRIMARY KEY (tenant_id, user_id)
) WITHOUT ROWID;
CREATE INDEX accounts_user ON accounts (user_id);

-- Failed logins, by account and by address. They belong to no tenant: nobody knows the
-- tenant of a login that fails.
CREATE TABLE login_tries (
	tenant_id  TEXT    NOT NULL,
	subject    TEXT    NOT NULL,
	tries      INTEGER NOT NULL,
	next_at    TEXT    NOT NULL,
	updated_at TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, subject)
) WITHOUT ROWID;
CREATE INDEX login_tries_age ON login_tries (updated_at);

-- Who did what. The program only adds rows, and deletes those older than P8_AUDIT_KEEP.
CREATE TABLE audit_log (
	tenant_id  TEXT NOT NULL,
	id         TEXT NOT NULL,
	user_id    TEXT,
	key_id     TEXT,
	role       TEXT,
	action     TEXT NOT NULL,
	object     TEXT,
	outcome    TEXT NOT NULL,
	request_id TEXT,
	address    TEXT,
	created_at TEXT NOT NULL,
	PRIMARY KEY (tenant_id, id)
) WITHOUT ROWID;
CREATE INDEX audit_log_recent ON audit_log (tenant_id, created_at, id);
CREATE INDEX audit_log_age ON audit_log (created_at);

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('api_keys', 'api_keys', '100000 10000 1'),
	('api_keys', 'api_keys_hash', '100000 1'),
	('api_keys', 'api_keys_owner', '100000 10000 5000 10'),
	('api_keys', 'api_keys_name', '10000 1000 10 1'),
	('accounts', 'accounts', '10000 1000 1'),
	('accounts', 'accounts_user', '10000 1'),
	('login_tries', 'login_tries', '10000 10000 1'),
	('login_tries', 'login_tries_age', '10000 10'),
	('audit_log', 'audit_log', '1000000 100000 1'),
	('audit_log', 'audit_log_recent', '1000000 100000 2 1'),
	('audit_log', 'audit_log_age', '1000000 2');
