package near_test

import (
	"testing"

	"github.com/p8-org/p8/internal/near"
)

func TestNames(t *testing.T) {
	names := []string{"general", "sample-agent", "default-agent", "dreaming-agent", "research-agent", "rem-agents-query-agent"}
	for name, want := range map[string]string{
		"genral": "general", "General": "general", "sample_agent": "sample-agent", "sample": "sample-agent",
		"dreamin-agent": "dreaming-agent", "query-agent": "rem-agents-query-agent", "weather": "", "": "",
	} {
		got := ""
		if similar := near.Names(name, names, 1); len(similar) > 0 {
			got = similar[0]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	names := []string{"openai", "anthropic", "gemini"}
	for word, want := range map[string]string{
		"opnai": "openai", "opneia": "openai", "gemni": "gemini", "x": "", "": "", "open": "openai", "anthropics": "anthropic", "mistral": "",
	} {
		if got := near.Word(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
