package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Query is structured input for an agent (REM's AgentQuery).
type Query struct {
	// Query is the user's question or task.
	Query string `json:"query"`
	// Knowledge is what was retrieved for the query: Markdown with fenced JSON.
	Knowledge string `json:"knowledge,omitempty"`
	// Scratchpad is working memory over several turns: a JSON string or object.
	Scratchpad json.RawMessage `json:"scratchpad,omitempty"`
}

// Prompt formats the query for a model under the headings "# Query", "# Knowledge" and "#
// Scratchpad", without the empty ones. A scratchpad that is an object is fenced JSON,
// indented by two.
func (q Query) Prompt() (string, error) {
	parts := []string{"# Query", "", q.Query}
	if q.Knowledge != "" {
		parts = append(parts, "# Knowledge", "", q.Knowledge)
	}
	pad, err := q.scratchpad()
	if err != nil {
		return "", err
	}
	if pad != "" {
		parts = append(parts, "# Scratchpad", "", pad)
	}
	return strings.Join(parts, "\n"), nil
}

func (q Query) scratchpad() (string, error) {
	raw := bytes.TrimSpace(q.Scratchpad)
	switch {
	case len(raw) == 0, string(raw) == "null", string(raw) == "{}":
		return "", nil
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", fmt.Errorf("scratchpad: %w", err)
		}
		return s, nil
	case raw[0] != '{':
		return "", fmt.Errorf("scratchpad: want a string or an object")
	}
	var buf bytes.Buffer
	buf.WriteString("```json\n")
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return "", fmt.Errorf("scratchpad: %w", err)
	}
	buf.WriteString("\n```")
	return buf.String(), nil
}
