package sqlgate

import (
	"fmt"
	"testing"
	"time"
)

var testTables = []Table{
	{"resources", []Column{{Name: "name", Type: Text}, {Name: "content", Type: Text}, {Name: "ordinal", Type: Integer}, {Name: "category", Type: Text}, {Name: "confidence", Type: Number}, {Name: "tags", Type: JSON}, {Name: "metadata", Type: JSON}, {Name: "id", Type: Text}, {Name: "user_id", Type: Text}, {Name: "created_at", Type: Timestamp}}},
	{"messages", []Column{{Name: "id", Type: Text}, {Name: "session_id", Type: Text}, {Name: "message_type", Type: Text}, {Name: "content", Type: Text}, {Name: "tool_calls", Type: JSON}, {Name: "input_tokens", Type: Integer}, {Name: "output_tokens", Type: Integer}, {Name: "latency_ms", Type: Integer}, {Name: "model", Type: Text}, {Name: "agent_name", Type: Text}, {Name: "created_at", Type: Timestamp}}},
	{"schemas", []Column{{Name: "name", Type: Text}, {Name: "json_schema", Type: JSON}}},
}

func TestPrint(t *testing.T) {
	for _, sql := range []string{
		`SELECT json_schema->>'temperature' FROM schemas WHERE name='dreaming-agent'`,
		`SELECT message_type, tool_calls, LEFT(content,100) FROM messages WHERE message_type IN ('tool_call','tool_response') ORDER BY created_at LIMIT 10`,
		`SELECT agent_name, model, COUNT(*) AS turns, SUM(input_tokens) AS total_input, AVG(latency_ms)::int AS avg_latency_ms
FROM messages WHERE message_type = 'assistant' AND input_tokens > 0 GROUP BY agent_name, model ORDER BY total_input DESC;`,
		`WITH RECURSIVE r(n, s) AS (SELECT 1, 'x' UNION ALL SELECT n+1, s||'y' FROM r WHERE n < 5) SELECT * FROM r`,
		`SELECT date_trunc('day', created_at) AS d, count(*) FROM messages WHERE created_at > NOW() - INTERVAL '7 days' GROUP BY 1 ORDER BY 1 DESC`,
		`SELECT t.tag, count(*) FROM resources r, jsonb_array_elements_text(r.tags) AS t(tag) GROUP BY t.tag`,
	} {
		q, err := Check(sql, testTables)
		if err != nil {
			t.Errorf("%s\n  %v at %d", sql, err, err.(*Error).Position)
			continue
		}
		s, err := q.Postgres()
		fmt.Println("PG  ", s.SQL, err)
		l, err := q.SQLite(Lite{func(t string) string { return "v_" + t }, time.Unix(0, 0)})
		if err != nil {
			t.Error(err)
			continue
		}
		fmt.Println("LITE", l.SQL, q.Columns(), q.Plain())
	}
}
