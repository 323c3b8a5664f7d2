package checklist

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// line runs a command line of a checklist, word for word but for the port.
func (d *desk) line(t *testing.T, line string) string {
	t.Helper()
	return harness.Shell(t, []string{"P8_DATA_DIR=" + d.DataDir}, strings.ReplaceAll(line, "http://localhost:8000", d.URL))
}

// rows are the response of a command line with curl.
func (d *desk) rows(t *testing.T, line string) []map[string]any {
	t.Helper()
	answer := d.line(t, line)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(answer), &rows); err != nil {
		t.Fatalf("%s: %v: %s", line, err, answer)
	}
	return rows
}

// configInSQL is how the second row is verified by hand.
func configInSQL(t *testing.T, d *desk) {
	contains(t, d.line(t, `p8 query "SQL SELECT json_schema->>'temperature' FROM schemas WHERE name='dreaming-agent'"`), "\n0.7")
	rows := d.rows(t, `curl -sS http://localhost:8000/schemas/?name=dreaming-agent`)
	schema, _ := rows[0]["json_schema"].(map[string]any)
	if len(rows) != 1 || schema["temperature"] != 0.7 {
		t.Errorf("json_schema.temperature is %v, want 0.7", schema["temperature"])
	}
}

// toolRowsInSQL is how the fifth row is verified by hand.
func toolRowsInSQL(t *testing.T, d *desk) {
	contains(t, d.line(t, `p8 query "SQL SELECT message_type, tool_calls, content FROM messages WHERE message_type IN ('tool_call','tool_response') ORDER BY created_at LIMIT 10"`),
		"MESSAGE TYPE ", "\ntool_call ", "\ntool_response ", `"name":"search"`)
	rows := d.rows(t, `curl -sS -X POST http://localhost:8000/query/ -H 'Content-Type: application/json' -d '{"mode":"SQL","query":"SELECT message_type, tool_calls, LEFT(content,100) FROM messages WHERE message_type IN ('"'"'tool_call'"'"','"'"'tool_response'"'"') ORDER BY created_at LIMIT 10"}'`)
	for i, row := range rows {
		want := []string{"tool_call", "tool_response"}[i%2]
		call, _ := row["tool_calls"].(map[string]any)
		content, said := row["left"].(string)
		if row["message_type"] != want || call["name"] != "search" || call["id"] == "" || said != (want == "tool_response") || len([]rune(content)) > 100 {
			t.Errorf("row %d is %v, want a %s", i, row, want)
		}
	}
	if len(rows) < 2 || len(rows)%2 != 0 {
		t.Errorf("%d rows, want pairs of a call and a response", len(rows))
	}
}

// metricsInSQL is how the sixth row is verified by hand, and the query of the
// metrics.
func metricsInSQL(t *testing.T, d *desk) {
	contains(t, d.line(t, `p8 query "SQL SELECT input_tokens, output_tokens, latency_ms FROM messages WHERE message_type='assistant' AND input_tokens > 0 LIMIT 5"`),
		"INPUT TOKENS  OUTPUT TOKENS  LATENCY MS\n")
	rows := d.rows(t, `curl -sS -X POST http://localhost:8000/query/ -H 'Content-Type: application/json' -d '{"mode":"SQL","query":"SELECT input_tokens, output_tokens, latency_ms, model FROM messages WHERE message_type='"'"'assistant'"'"' AND input_tokens > 0 LIMIT 5"}'`)
	positive := func(row map[string]any, names ...string) {
		for _, name := range names {
			if n, _ := row[name].(float64); n <= 0 {
				t.Errorf("%s of %v is not above 0", name, row)
			}
		}
	}
	for _, row := range rows {
		positive(row, "input_tokens", "output_tokens", "latency_ms")
		if model, _ := row["model"].(string); !strings.HasPrefix(model, "openai:") {
			t.Errorf("the model of %v is not provider:model", row)
		}
	}
	rows = d.rows(t, `curl -sS -X POST http://localhost:8000/query/ -H 'Content-Type: application/json' -d "$(cat <<'EOF'
{"mode":"SQL","query":"SELECT agent_name, model, COUNT(*) AS turns, SUM(input_tokens) AS total_input, SUM(output_tokens) AS total_output, AVG(latency_ms)::int AS avg_latency_ms FROM messages WHERE message_type = 'assistant' AND input_tokens > 0 GROUP BY agent_name, model ORDER BY total_input DESC;"}
EOF
)"`)
	for _, row := range rows {
		positive(row, "turns", "total_input", "total_output", "avg_latency_ms")
	}
	if len(rows) == 0 {
		t.Error("the metrics of no agent are shown")
	}
}
