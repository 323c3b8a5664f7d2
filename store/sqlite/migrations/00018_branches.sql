-- +goose Up
-- cut: the message is not on the session's current branch (deleted_at is set, too), and
-- comes back with its branch. client_message_id is the id that the client gave it.
ALTER TABLE messages ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN client_message_id TEXT;

-- From the message first_seq on, the session's messages follow the message after_seq (0:
-- the beginning of the session). A session that never went back has no rows.
CREATE TABLE session_branches (
	tenant_id  TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	owner      TEXT    NOT NULL,
	first_seq  INTEGER NOT NULL,
	after_seq  INTEGER NOT NULL,
	created_at TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, session_id, owner, first_seq)
) WITHOUT ROWID;

-- As at the end of 00001.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('session_branches', 'session_branches', '100000 10000 4 4 1');
