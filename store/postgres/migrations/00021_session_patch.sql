-- +goose Up
-- named: the session's name is the client's, and no agent replaces it. archived: the
-- session is in no list unless the caller asks for it.
ALTER TABLE sessions ADD COLUMN named BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE sessions ADD COLUMN archived BOOLEAN NOT NULL DEFAULT false;
