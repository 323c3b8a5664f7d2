package llm_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/llm"
)

// serve answers GETs by path; anything else is 404.
func serve(t *testing.T, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, ok := answers[r.URL.Path]; ok {
			w.Write([]byte(body))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestChooseDefault(t *testing.T) {
	ollama := serve(t, map[string]string{"/api/tags": `{"models":[
		{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
		{"name":"all-minilm:22m","details":{"family":"bert"}},
		{"name":"qwen3:8b","details":{"family":"qwen3"}},{"name":"llama3.2"}]}`})
	embedOnly := serve(t, map[string]string{"/api/tags": `{"models":[{"name":"nomic-embed-text"}]}`})
	vllm := serve(t, map[string]string{"/v1/models": `{"data":[{"id":"text-embed"},{"id":"Qwen/Qwen3-8B"}]}`})
	proxy := serve(t, map[string]string{"/v1/models": `{"data":[{"id":"other"},{"id":"gpt-4.1"}]}`})
	silent := serve(t, nil)

	tests := []struct {
		name                  string
		env                   map[string]string
		model, reason, notice string
	}{
		{"named", map[string]string{"P8_DEFAULT_MODEL": "ollama:x", "OPENAI_API_KEY": "k"}, "ollama:x", "P8_DEFAULT_MODEL names it", ""},
		{"alias", map[string]string{"LLM__DEFAULT_MODEL": "ollama:x"}, "ollama:x", "LLM__DEFAULT_MODEL names it", ""},
		{"key", map[string]string{"OPENAI_API_KEY": "k", "OLLAMA_HOST": ollama}, "openai:gpt-4.1", "OPENAI_API_KEY is set", ""},
		{"p8 key", map[string]string{"P8_OPENAI_API_KEY": "k"}, "openai:gpt-4.1", "P8_OPENAI_API_KEY is set", ""},
		{"base url alone", map[string]string{"OPENAI_BASE_URL": vllm + "/v1/"}, "openai:Qwen/Qwen3-8B", "first model there", ""},
		{"base url with gpt-4.1", map[string]string{"OPENAI_BASE_URL": proxy + "/v1"}, "openai:gpt-4.1", "OPENAI_BASE_URL is set", ""},
		{"base url without a list", map[string]string{"OPENAI_BASE_URL": silent}, "openai:gpt-4.1", "OPENAI_BASE_URL is set", ""},
		{"ollama", map[string]string{"OLLAMA_HOST": ollama}, "ollama:qwen3:8b", "Ollama answers at " + ollama, ""},
		{"ollama beats azure", map[string]string{"OLLAMA_HOST": ollama, "AZURE_OPENAI_API_KEY": "k"}, "ollama:qwen3:8b", "Ollama answers", ""},
		{"ollama without chat model", map[string]string{"OLLAMA_HOST": embedOnly}, "offline:search", "ollama pull", ""},
		{"nothing", map[string]string{"OLLAMA_HOST": silent}, "offline:search", "no language model is configured", ""},
		{"anthropic", map[string]string{"OLLAMA_HOST": ollama, "ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}, "anthropic:claude-sonnet-5-5", "ANTHROPIC_API_KEY is set", ""},
		{"openai beats anthropic", map[string]string{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "openai:gpt-4.1", "OPENAI_API_KEY is set", ""},
		{"REM's anthropic key", map[string]string{"LLM__ANTHROPIC_API_KEY": "k"}, "anthropic:claude-sonnet-5-5", "LLM__ANTHROPIC_API_KEY is set", ""},
		{"gemini", map[string]string{"OLLAMA_HOST": ollama, "GEMINI_API_KEY": "k"}, "gemini:gemini-3.8-flash", "GEMINI_API_KEY is set", ""},
		{"google's key", map[string]string{"GOOGLE_API_KEY": "k"}, "gemini:gemini-3.8-flash", "GOOGLE_API_KEY is set", ""},
		{"azure", map[string]string{"OLLAMA_HOST": silent, "AZURE_OPENAI_API_KEY": "k"}, "offline:search", "the name of your deployment", "set P8_DEFAULT_MODEL=azure:DEPLOYMENT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := llm.ChooseDefault(t.Context(), llm.ChooseOptions{Getenv: func(k string) string { return tt.env[k] }, Timeout: 5 * time.Second})
			if got.Model != tt.model || !strings.Contains(got.Reason, tt.reason) || !strings.Contains(got.Notice, tt.notice) || (tt.notice == "") != (got.Notice == "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

type hang struct{}

func (hang) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestChooseDefaultDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := llm.ChooseDefault(t.Context(), llm.ChooseOptions{
			Getenv: func(string) string { return "" }, HTTPClient: &http.Client{Transport: hang{}},
		})
		if took := time.Since(start); got.Model != llm.OfflineModel || took != 200*time.Millisecond {
			t.Errorf("%+v after %v", got, took)
		}
	})
}
