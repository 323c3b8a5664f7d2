package run_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/run"
)

func TestQueryPrompt(t *testing.T) {
	for name, q := range map[string]run.Query{
		"query.golden": {Query: "Who manages Project Alpha?"},
		"query_full.golden": {
			Query:      "Find all documents Sarah authored",
			Knowledge:  "# Entity: sarah-chen\nType: person/employee",
			Scratchpad: json.RawMessage(`{"stage":"entity_lookup","visited":["sarah-chen"]}`),
		},
		"query_text_pad.golden": {Query: "Next?", Scratchpad: json.RawMessage(`"looked up sarah-chen"`)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := q.Prompt()
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("testdata", name), got)
		})
	}
}

func TestQueryScratchpadMustBeTextOrObject(t *testing.T) {
	q := run.Query{Query: "x", Scratchpad: json.RawMessage(`[1]`)}
	if _, err := q.Prompt(); err == nil {
		t.Error("an array was taken")
	}
}
