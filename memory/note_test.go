package memory_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
)

func TestNote(t *testing.T) {
	for _, tc := range []struct {
		name, metadata string
		shown          bool
		want           string
	}{
		{"nothing", "", true, ""},
		{"what others say stays as it is", `{"plan":"free",  "latest":{"uploads":[1]}}`, true, `{"plan":"free",  "latest":{"uploads":[1]}}`},
		{"what is shown is not said again", `{"plan":"free","latest_moment_id":"x","latest_summary":"S.","moment_count":3}`, true, `{"moment_count":3,"plan":"free"}`},
		{"what is not shown is said", `{"latest_moment_id":"x","latest_summary":"S.","moment_count":3}`, false, `{"latest_summary":"S.","moment_count":3}`},
		{"an upload", `{"uploads":[{"moment_id":"x","moment_name":"upload-a","moment_type":"content_upload","source":"upload","file_id":"f","file_name":"a.md","chunk_count":2,"resource_keys":["a-0","a-1"]}],"resource_keys":["a-0","a-1"]}`,
			true, `{"resource_keys":["a-0","a-1"],"uploads":[{"moment_name":"upload-a","file_name":"a.md"}]}`},
		{"of another program", `{"uploads":"many","resource_keys":7,"latest_summary":{}}`, true, `{"resource_keys":7,"uploads":"many"}`},
		{"no object", `["uploads"]`, true, `["uploads"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := memory.Note(json.RawMessage(tc.metadata), tc.shown); string(got) != tc.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// However much was uploaded, a prompt says of it what fits on a few lines.
func TestNoteIsBounded(t *testing.T) {
	var uploads []map[string]any
	var keys []string
	for i := range 50 {
		name := fmt.Sprintf("%d-%s", i, strings.Repeat("long", 60))
		uploads = append(uploads, map[string]any{"moment_name": name, "file_name": name, "resource_keys": []string{name, name}})
		for n := range 4 {
			keys = append(keys, fmt.Sprintf("%s-%d", name, n))
		}
	}
	metadata, err := json.Marshal(map[string]any{"uploads": uploads, "resource_keys": keys})
	must(t, err)
	got := string(memory.Note(metadata, true))
	if n := llm.EstimateTokens(got); n > 1500 {
		t.Errorf("%d tokens", n)
	}
	if !strings.Contains(got, `"49-long`) || strings.Contains(got, `"40-long`) {
		t.Errorf("got %s", got)
	}
}
