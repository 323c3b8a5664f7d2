package run_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"p8/run"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\n--- got\n%s\n--- want\n%s", path, got, want)
	}
}

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
			golden(t, name, got)
		})
	}
}

func TestQueryScratchpadMustBeTextOrObject(t *testing.T) {
	q := run.Query{Query: "x", Scratchpad: json.RawMessage(`[1]`)}
	if _, err := q.Prompt(); err == nil {
		t.Error("an array was taken")
	}
}
