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
	created_at   TIMESTAMPTZ NOT NULL,
	last_used_at TIMESTAMPTZ,
	expires_at   TIMESTAMPTZ,
	revoked_at   TIMESTAMPTZ,
	PRIMARY KEY (tenant_id, id)
);
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
	created_at  TIMESTAMPTZ NOT NULL,
	password_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX accounts_user ON accounts (user_id);

-- Failed logins, by account and by address. They belong to no tenant: nobody knows the
-- tenant of a login that fails.
CREATE TABLE login_tries (
	tenant_id  TEXT    NOT NULL,
	subject    TEXT    NOT NULL,
	tries      BIGINT NOT NULL,
	next_at    TIMESTAMPTZ    NOT NULL,
	updated_at TIMESTAMPTZ    NOT NULL,
	PRIMARY KEY (tenant_id, subject)
);
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
	created_at TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_log_recent ON audit_log (tenant_id, created_at, id);
CREATE INDEX audit_log_age ON audit_log (created_at);

-- They are not for callers, whatever is granted later.
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
ALTER TABLE login_tries ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
