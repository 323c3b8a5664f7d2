-- +goose Up
-- named: the session's name is the client's, and no agent replaces it. archived: the
-- session is in no list unless the caller asks for it.
ALTER TABLE sessions ADD COLUMN named INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
