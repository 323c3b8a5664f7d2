-- +goose Up
-- The words of what was said are in the index of words, which the program keeps: those of
-- the messages that are there already. Signs that would make one word of several, and
-- accents, are removed as the program removes them, as far as SQL can.
INSERT INTO keywords (tenant_id, table_name, entity_id, owner, words)
	SELECT tenant_id, 'messages', id, COALESCE(user_id, ''),
		to_tsvector('p8_words', regexp_replace(normalize(lower(translate(left(content, 20000), '/.@:_-+&=?#%', '            ')), NFD), '[\u0300-\u036f]', '', 'g'))
		|| array_to_tsvector(ARRAY['messages' || chr(10) || tenant_id || chr(10) || COALESCE(user_id, '')])
	FROM messages WHERE message_type IN ('user', 'assistant') AND content <> '' AND deleted_at IS NULL;
