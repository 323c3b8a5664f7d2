package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
)

// named is a model that has only a name.
type named string

func (n named) Name() string                 { return string(n) }
func (named) Capabilities() llm.Capabilities { return llm.Capabilities{} }
func (named) Stream(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(func(llm.Chunk, error) bool) {}
}

func registry(made *int) *llm.Registry {
	construct := func(provider string) llm.Constructor {
		return func(model string) (llm.Model, error) {
			if made != nil {
				*made++
			}
			return named(provider + ":" + model), nil
		}
	}
	return llm.NewRegistry(llm.RegistryOptions{CacheSize: 4, Providers: map[string]llm.Constructor{
		"openai": construct("openai"), "ollama": construct("ollama"), "offline": construct("offline"),
		"anthropic": construct("anthropic"), "gemini": construct("gemini"),
	}})
}

func TestResolve(t *testing.T) {
	tests := []struct {
		name, want string
		kind       llm.ErrorKind
		says       string
	}{
		{name: "openai:gpt-4.1", want: "openai:gpt-4.1"},
		{name: " OpenAI:gpt-4.1 ", want: "openai:gpt-4.1"},
		{name: "ollama:qwen3:8b", want: "ollama:qwen3:8b"},
		{name: "gpt-4o-mini", want: "openai:gpt-4o-mini"},
		{name: "o1", want: "openai:o1"},
		{name: "o3-mini", want: "openai:o3-mini"},
		{name: "o4-mini", want: "openai:o4-mini"},
		{name: "chatgpt-4o-latest", want: "openai:chatgpt-4o-latest"},
		{name: "offline", want: "offline:"},
		{name: "llama3", kind: llm.NotFound, says: `give the provider too`},
		{name: "", kind: llm.NotFound, says: `give the provider too`},
		{name: "opnai:gpt-4.1", kind: llm.NotFound, says: `did you mean "openai"? (known: anthropic, gemini, offline, ollama, openai)`},
		{name: "nobody:x", kind: llm.NotFound, says: `the provider "nobody" is unknown (known:`},
		{name: "claude:claude-opus-4-5", want: "anthropic:claude-opus-4-5"},
		{name: "claude-sonnet-4-5", want: "anthropic:claude-sonnet-4-5"},
		{name: "claude", want: "anthropic:"},
		{name: "google-gla:gemini-2.5-pro", want: "gemini:gemini-2.5-pro"},
		{name: "google:gemini-2.5-pro", want: "gemini:gemini-2.5-pro"},
		{name: "google-gemini:gemini-2.5-pro", want: "gemini:gemini-2.5-pro"},
		{name: "gemini-2.5-flash", want: "gemini:gemini-2.5-flash"},
		{name: "google-vertex:gemini-2.5-pro", kind: llm.NoModel, says: "no client for Vertex AI; the same models answer under the name gemini:"},
		{name: "google-vertex", kind: llm.NoModel, says: "no client for Vertex AI"},
		{name: "openai:a\nb", kind: llm.NotFound, says: "there is no model openai:ab: a model name has"},
		{name: "openai:" + strings.Repeat("x", 1000), kind: llm.NotFound, says: "at most 128"},
	}
	r := registry(nil)
	for _, tt := range tests {
		t.Run(tt.name[:min(len(tt.name), 32)], func(t *testing.T) {
			m, err := r.Resolve(tt.name)
			if tt.kind == "" {
				if err != nil || m.Name() != tt.want {
					t.Fatalf("got %v, %v; want %s", m, err, tt.want)
				}
				return
			}
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.says) {
				t.Fatalf("got %v; want %s, saying %q", err, tt.kind, tt.says)
			}
		})
	}
}

func TestModelsAreCachedWithinBounds(t *testing.T) {
	made := 0
	r := registry(&made)
	for range 3 {
		for _, name := range []string{"openai:a", "gpt-4", "openai:gpt-4", "OPENAI:a", "google:g", "gemini:g"} {
			if _, err := r.Resolve(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != 3 {
		t.Errorf("made %d models, want 3", made)
	}
	for i := range 100 {
		if _, err := r.Resolve(fmt.Sprint("openai:", i)); err != nil {
			t.Fatal(err)
		}
	}
	made = 0
	for i := range 100 {
		if _, err := r.Resolve(fmt.Sprint("openai:", i)); err != nil {
			t.Fatal(err)
		}
	}
	if made < 96 {
		t.Errorf("of 100 models %d were still there; the cache holds 4", 100-made)
	}
}

func TestEstimateTokens(t *testing.T) {
	for s, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "äöüß": 1, "日本語の文": 2} {
		if got := llm.EstimateTokens(s); got != want {
			t.Errorf("EstimateTokens(%q) = %d, want %d", s, got, want)
		}
	}
}

func ExampleRegistry_Resolve() {
	models := registry(nil)
	model, _ := models.Resolve("gpt-4.1")
	fmt.Println(model.Name())
	_, err := models.Resolve("olama:qwen3")
	fmt.Println(err)
	// Output:
	// openai:gpt-4.1
	// there is no model olama:qwen3: the provider "olama" is unknown; did you mean "ollama"? (known: anthropic, gemini, offline, ollama, openai)
}
