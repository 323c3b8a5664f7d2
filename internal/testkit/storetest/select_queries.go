package storetest

import "slices"

// SelectQueries are the queries whose results all engines give alike.
func SelectQueries() []string { return slices.Clone(selectQueries) }

// selectQueries are what people and models ask. Each has one order of its rows.
var selectQueries = []string{
	// Documents and conversations.
	`SELECT json_schema->>'temperature' FROM schemas WHERE name='dreaming-agent'`,
	`SELECT message_type, tool_calls, content FROM messages WHERE message_type IN ('tool_call','tool_response') ORDER BY seq LIMIT 10`,
	`SELECT message_type, tool_calls, LEFT(content,100) FROM messages WHERE message_type IN ('tool_call','tool_response') ORDER BY created_at, seq LIMIT 10`,
	`SELECT input_tokens, output_tokens, latency_ms FROM messages WHERE message_type='assistant' AND input_tokens > 0 ORDER BY seq LIMIT 5;`,
	`SELECT agent_name, model,
       COUNT(*)             AS turns,
       SUM(input_tokens)    AS total_input,
       SUM(output_tokens)   AS total_output,
       AVG(latency_ms)::int AS avg_latency_ms
FROM messages
WHERE message_type = 'assistant' AND input_tokens > 0
GROUP BY agent_name, model
ORDER BY total_input DESC;`,
	`SELECT s.id, s.name, count(m.id) AS n FROM sessions s LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id, s.name`,
	`SELECT count(*) FROM messages WHERE created_at > NOW() - INTERVAL '7 days'`,
	`SELECT count(*) FILTER (WHERE model = 'm:small') AS small, count(*) FILTER (WHERE model IS NULL) AS none, count(DISTINCT model) AS models FROM messages`,
	`SELECT seq, content FROM messages WHERE content ILIKE '%TEA%' ORDER BY seq -- a comment`,
	`SELECT seq, lag(seq) OVER (ORDER BY seq) AS before, row_number() OVER (PARTITION BY message_type ORDER BY seq) AS n FROM messages ORDER BY seq`,
	`SELECT tool_calls->>'name' AS tool, tool_calls->'arguments'->>'q' AS q, count(*) FROM messages WHERE tool_calls IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2`,
	`SELECT tool_calls::text FROM messages WHERE message_type = 'tool_call'`,
	`SELECT max(latency_ms) - min(latency_ms) AS spread, round(avg(latency_ms), 2) AS mean, sum(latency_ms) / 2 AS half FROM messages WHERE latency_ms > 0`,

	// Knowledge.
	`SELECT name, category FROM resources ORDER BY name`,
	`SELECT name, category, rating FROM resources ORDER BY category, rating DESC, name`,
	`SELECT DISTINCT category FROM resources ORDER BY category DESC`,
	`SELECT name, tags, metadata FROM resources WHERE tags ? 'tea' ORDER BY ordinal`,
	`SELECT name FROM resources WHERE 'coffee' = ANY(tags)`,
	`SELECT name FROM resources WHERE tags @> '["green"]' OR tags @> ARRAY['coffee'] ORDER BY name`,
	`SELECT name FROM resources WHERE tags && ARRAY['green','coffee'] ORDER BY name`,
	`SELECT t.tag, count(*) AS n FROM resources r, jsonb_array_elements_text(r.tags) AS t(tag) GROUP BY t.tag ORDER BY n DESC, tag`,
	`SELECT name, tag FROM resources CROSS JOIN LATERAL jsonb_array_elements_text(tags) WITH ORDINALITY AS x(tag, pos) WHERE pos = 2`,
	`SELECT e->>'name' AS tool FROM schemas s, jsonb_array_elements(s.json_schema->'tools') AS e WHERE s.name = 'dreaming-agent' ORDER BY 1`,
	`SELECT key, value FROM resources, jsonb_each(metadata) WHERE name = 'Coffee' ORDER BY key`,
	`SELECT name, (metadata->>'pages')::int * 2 AS pages, metadata->'author'->>'name' AS author, metadata#>>'{author,name}' AS again FROM resources WHERE metadata ? 'pages' ORDER BY 2`,
	`SELECT name, (metadata->>'draft')::boolean AS draft FROM resources WHERE (metadata->>'draft')::bool IS NOT NULL ORDER BY name`,
	`SELECT name FROM resources WHERE content LIKE '%100\%%' OR content LIKE 'O''Brien_s!_%' ESCAPE '!' ORDER BY name`,
	`SELECT upper(name) AS u, lower(name) AS l, length(name) AS n, reverse(name) AS r, initcap(content) AS i FROM resources WHERE name = 'Ärger'`,
	`SELECT split_part(uri, '/', 2) AS file, substring(uri from 1 for 4) AS folder, position('/' in uri) AS at, replace(uri, '.md', '') AS bare, right(uri, 3) AS ext FROM resources WHERE uri IS NOT NULL ORDER BY uri`,
	`SELECT coalesce(category, 'none') || ': ' || count(*) AS line FROM resources GROUP BY category ORDER BY line`,
	`SELECT string_agg(name, ', ' ORDER BY name) AS names, string_agg(DISTINCT category, '/') AS categories FROM resources`,
	`SELECT category, jsonb_agg(name ORDER BY name) AS names FROM resources WHERE category = 'drink' GROUP BY category`,
	`SELECT jsonb_build_object('name', name, 'rating', rating, 'tags', tags, 'good', rating > 4) AS o FROM resources WHERE category = 'drink' ORDER BY name`,
	`SELECT name, CASE WHEN rating >= 5 THEN 'great' WHEN rating >= 3 THEN 'good' ELSE 'unknown' END AS verdict FROM resources ORDER BY ordinal, name`,
	`SELECT rating > 4 AS great, rating IS NULL AS unrated, NOT (rating = 2) AS x, true AS yes FROM resources ORDER BY ordinal, name`,
	`WITH rated AS (SELECT * FROM resources WHERE rating IS NOT NULL), best AS (SELECT max(rating) AS top FROM rated) SELECT r.name FROM rated r JOIN best b ON r.rating = b.top`,
	`SELECT name FROM resources WHERE rating = (SELECT max(rating) FROM resources)`,
	`SELECT name FROM resources r WHERE EXISTS (SELECT 1 FROM files f WHERE f.uri = r.uri) ORDER BY name`,
	`SELECT name FROM resources WHERE uri IN (SELECT uri FROM files) UNION SELECT name FROM files ORDER BY name`,
	`SELECT name FROM resources WHERE rating BETWEEN 2 AND 4 ORDER BY rating NULLS FIRST LIMIT 1 OFFSET 1`,
	`SELECT f.name, r.name FROM files f FULL JOIN resources r USING (uri) ORDER BY r.ordinal, r.name`,
	`SELECT uri, f.size_bytes, r.rating FROM files f JOIN resources r USING (uri)`,
	`SELECT name, confidence_score, round(confidence_score, 2) AS r, confidence_score::text AS t, extracted_data->>'born' AS born, graph_edges->0->>'target' AS target FROM ontologies`,
	`SELECT name, email, interests FROM users`,
	`SELECT rating, comment, session_id FROM feedback`,
	`SELECT tenant_id, count(*) FROM resources GROUP BY tenant_id ORDER BY tenant_id`,
	`SELECT greatest(1, NULL, 3) AS g, least(2, 1.5) AS l, nullif(1, 1) AS n, abs(-2) AS a, 7 / 2 AS q, 7 % 4 AS m, 7 / 2.0 AS d, 2 ^ 10 AS p, round(2.5) AS r, ceil(1.2) AS c, floor(-1.2) AS f`,
	`SELECT 'a' || NULL AS n, concat('a', NULL, 1) AS c, concat_ws('-', 'a', NULL, 'b') AS w, lpad('7', 3, '0') AS lp, rpad('ab', 4) AS rp, repeat('ab', 2) AS rep, trim('  x ') AS tr, ltrim('xxy', 'x') AS lt`,
	`SELECT '42'::int AS i, '1.50'::numeric AS n, 1::text AS t, true::text AS b, 'yes'::boolean AS y, 2.7::int AS up, NULL::int AS no, '{"b":1,"aa":[true,null]}'::jsonb AS j, CAST('7' AS bigint) AS big`,
	`SELECT 'abc' ~ '^a' AS m, 'ABC' ~* 'b' AS f, 'abc' !~ 'z' AS n, 'abc' LIKE 'a%' AS l, 'a' IN ('a', 'b') AS i, 1 IS DISTINCT FROM NULL AS d`,
	`SELECT n, n * n AS square FROM (SELECT ordinal AS n FROM resources WHERE ordinal > 0) AS t(n) WHERE n > 1 ORDER BY n`,
	`WITH RECURSIVE r(n, path) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, path || 'b' FROM r WHERE n < 4) SELECT n, path FROM r ORDER BY n DESC`,
	`(SELECT name FROM files) UNION ALL (SELECT name FROM ontologies) ORDER BY 1`,
	`SELECT "name" AS "The Name", 1 AS "select" FROM "files"`,

	// Times.
	`SELECT name, starts_timestamp, ends_timestamp FROM moments ORDER BY starts_timestamp`,
	`SELECT name FROM moments WHERE starts_timestamp >= '2026-01-31' AND starts_timestamp < '2026-02-02T00:00:00Z' ORDER BY name`,
	`SELECT name FROM moments WHERE starts_timestamp::date = '2026-01-05' OR starts_timestamp BETWEEN '2026-02-01' AND '2026-02-01 23:59' ORDER BY name`,
	`SELECT date_trunc('month', starts_timestamp) AS month, count(*) FROM moments GROUP BY 1 ORDER BY 1`,
	`SELECT name, EXTRACT(YEAR FROM starts_timestamp) AS y, extract(dow from starts_timestamp) AS dow, date_part('hour', starts_timestamp) AS h, EXTRACT(EPOCH FROM ends_timestamp - starts_timestamp) / 60 AS minutes FROM moments ORDER BY name`,
	`SELECT name, starts_timestamp + INTERVAL '1 month' AS later, starts_timestamp - INTERVAL '1 day 2 hours' AS before, starts_timestamp::date + 7 AS week FROM moments ORDER BY name`,
	`SELECT name, to_char(starts_timestamp, 'YYYY-MM-DD HH24:MI') AS at, to_char(starts_timestamp, 'FMDay, DD Mon YYYY') AS day FROM moments ORDER BY name`,
	`SELECT name FROM moments WHERE ends_timestamp - starts_timestamp > INTERVAL '1 hour' ORDER BY name`,
	`SELECT name, starts_timestamp AT TIME ZONE 'UTC' AS utc, starts_timestamp::text AS text FROM moments ORDER BY name`,
	`SELECT DATE '2026-03-01' - DATE '2026-02-01' AS days, TIMESTAMP '2026-01-31 10:00' + INTERVAL '1 month' AS feb, to_timestamp(0) AS zero, date_trunc('week', '2026-01-01'::timestamp) AS week`,
	`SELECT NOW() > '2020-01-01' AS later, CURRENT_DATE > '2020-01-01' AS date, CURRENT_TIMESTAMP - INTERVAL '1 day' < NOW() AS before`,
	`SELECT min(starts_timestamp) AS first, max(ends_timestamp) AS last FROM moments WHERE moment_type = 'meeting'`,
}
