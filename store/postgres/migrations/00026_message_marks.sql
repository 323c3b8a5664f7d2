-- +goose Up
-- 00023 removed the marks of every script and left letters apart from their marks, which
-- the program does not: nobody found the words мой, がんばって and 세계. These are the
-- words of such messages again, with the marks of Latin letters removed only.
UPDATE keywords k SET words =
		to_tsvector('p8_words', normalize(regexp_replace(
			normalize(lower(translate(left(m.content, 20000), '/.@:_-+&=?#%<>', '              ')), NFD),
			'([a-z\u00df-\u024f])[\u0300-\u036f]+', '\1', 'g'), NFC))
		|| array_to_tsvector(ARRAY['messages' || chr(10) || k.tenant_id || chr(10) || k.owner])
	FROM messages m WHERE k.table_name = 'messages' AND m.tenant_id = k.tenant_id AND m.id = k.entity_id
		AND normalize(left(m.content, 20000), NFC) ~ '[\u0370-\u1dff\u2c00-\uffff]';
