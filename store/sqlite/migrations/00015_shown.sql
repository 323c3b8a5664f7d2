-- +goose Up
-- message_count is what a session's list of messages shows: without the rows that say what
-- an agent below the answer consumed, which dropped_messages counts. Both together are
-- the number of the newest message.
UPDATE sessions SET message_count = message_count - shares.n, dropped_messages = dropped_messages + shares.n
	FROM (SELECT tenant_id, session_id, owner, count(*) AS n FROM messages
		WHERE agent_path IS NOT NULL AND message_type = 'assistant' AND content IS NULL AND deleted_at IS NULL GROUP BY 1, 2, 3) AS shares
	WHERE sessions.tenant_id = shares.tenant_id AND sessions.id = shares.session_id AND sessions.owner = shares.owner;
