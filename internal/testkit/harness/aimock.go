package harness

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Provider is a running aimock: a model provider that nobody here wrote, which
// answers from fixtures and refuses what no fixture matches.
type Provider struct {
	URL string
}

// Env are the settings that make a p8 use the provider.
func (p *Provider) Env() []string {
	return []string{"OPENAI_BASE_URL=" + p.URL + "/v1", "OPENAI_API_KEY=" + ProviderKey, "P8_DEFAULT_MODEL=openai:gpt-4.1"}
}

// ProviderKey is the key that p8 has for the provider; no client and no log may
// ever see it.
const ProviderKey = "test-key-that-must-not-leak"

// Aimock starts the provider on a file of fixtures.
func Aimock(t testing.TB, fixtures string) *Provider {
	t.Helper()
	port := freePort(t)
	cli := filepath.Join(clients(t), "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	cmd := exec.Command(node(t), cli, "--host", "127.0.0.1", "--port", port, "--fixtures", fixtures,
		"--strict", "--validate-on-load", "--log-level", "warn", "--journal-max", "0")
	p := start(t, "aimock", cmd, nil)
	url := "http://127.0.0.1:" + port
	p.await(t, url+"/ready")
	return &Provider{URL: url}
}

// Exchange is one request that the provider got.
type Exchange struct {
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    struct {
		Model       string            `json:"model"`
		Temperature *float64          `json:"temperature"`
		Messages    []ProviderMessage `json:"messages"`
		Tools       []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ResponseFormat *struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	} `json:"body"`
	Response struct {
		Status int `json:"status"`
	} `json:"response"`
}

// ProviderMessage is a message as the provider got it.
type ProviderMessage struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"`
	ToolCallID string  `json:"tool_call_id,omitempty"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls,omitempty"`
}

// Text is the content, "" when there is none.
func (m ProviderMessage) Text() string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}

// Tools are the names of the tools that the model was offered.
func (x Exchange) Tools() []string {
	names := make([]string, len(x.Body.Tools))
	for i, tool := range x.Body.Tools {
		names[i] = tool.Function.Name
	}
	return names
}

// Journal is every request that the provider got, in order. The bodies are read
// as OpenAI's; those of another wire stay empty.
func (p *Provider) Journal(t testing.TB) []Exchange {
	t.Helper()
	raw := p.Raw(t)
	entries := make([]Exchange, len(raw))
	for i, entry := range raw {
		if json.Unmarshal(entry, &entries[i]) != nil {
			entries[i] = Exchange{}
		}
	}
	return entries
}

// Raw is the journal as the provider keeps it.
func (p *Provider) Raw(t testing.TB) []json.RawMessage {
	t.Helper()
	res, err := http.Get(p.URL + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var entries []json.RawMessage
	if err := json.NewDecoder(res.Body).Decode(&entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

// clients is the folder of the npm clients.
func clients(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(Root(t), "test", "clients")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "openai")); err != nil {
		t.Fatal("the npm clients are not installed: run scripts/test, or npm ci in test/clients")
	}
	return dir
}

func node(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("Node.js is not installed: run scripts/test, which installs it")
	}
	return path
}
