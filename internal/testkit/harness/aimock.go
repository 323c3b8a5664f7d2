package harness

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Provider is a running aimock: a third-party model provider that answers from
// fixtures and refuses requests that no fixture matches.
type Provider struct {
	URL string
}

// Env returns the settings with which p8 uses the provider.
func (p *Provider) Env() []string {
	return []string{"OPENAI_BASE_URL=" + p.URL + "/v1", "OPENAI_API_KEY=" + ProviderKey, "P8_DEFAULT_MODEL=openai:gpt-4.1"}
}

// ProviderKey is p8's key for the provider; it must reach no client and no log.
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

// Exchange is one request to the provider.
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
		ToolChoice     json.RawMessage `json:"tool_choice"`
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

// ProviderMessage is a message of a request.
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

// Text returns the content; "" if the message has none.
func (m ProviderMessage) Text() string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}

// Tools returns the names of the request's tools.
func (x Exchange) Tools() []string {
	names := make([]string, len(x.Body.Tools))
	for i, tool := range x.Body.Tools {
		names[i] = tool.Function.Name
	}
	return names
}

// Journal returns every request to the provider, in order. Bodies are decoded as
// OpenAI's; those of other protocols stay empty.
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

// Raw returns the provider's own journal.
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

// clients returns the folder of the npm clients.
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
