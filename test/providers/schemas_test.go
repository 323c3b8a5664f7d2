package providers

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/strictapi"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
	"github.com/p8-org/p8/llm/gemini"
	"github.com/p8-org/p8/llm/openai"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// walkthrough is the invoice document of the walkthrough of chained tools, word for word:
// its array has no items.
const walkthrough = `type: object
name: invoice-agent
description: Extract invoice data from documents.
structured_output: true
chained_tool: save_moments    # auto-invoke after structured output
properties:
  moments:
    type: array
    description: Extracted invoice records
tools:
  - name: search
`

// rawTool is a tool with any schema, as MCP servers have them.
type rawTool struct {
	tool.Base
	got *json.RawMessage
}

func (t rawTool) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	if t.got != nil {
		*t.got = c.Arguments
	}
	return tool.Result{Content: `{"ok":true}`}, nil
}

func newRawTool(t *testing.T, name, schema string, got *json.RawMessage) tool.Tool {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{Name: name, Description: "Does it.", Parameters: json.RawMessage(schema)})
	if err != nil {
		t.Fatal(err)
	}
	return rawTool{base, got}
}

// TestStrictSchemas runs the documents with structured answers on every wire, beside
// tools whose schemas providers refuse as they are written. No provider refuses a
// request, the answer is that of the model, and the chained tool gets it.
func TestStrictSchemas(t *testing.T) {
	docs := map[string]string{"walkthrough": walkthrough}
	for _, file := range []string{"../../examples/agents/invoice-agent.yaml", "../../testdata/agents/invoice-agent.yaml"} {
		text, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		docs[file] = string(text)
	}
	wires := []struct {
		name  string
		older bool
		model func(url string) (llm.Model, error)
	}{
		{name: "openai chat", model: func(url string) (llm.Model, error) {
			return openai.New(openai.Options{Model: "gpt-4.1", BaseURL: url, APIKey: "k", MaxRetries: -1})
		}},
		{name: "openai responses", model: func(url string) (llm.Model, error) {
			return openai.New(openai.Options{Model: "gpt-5-pro", BaseURL: url, APIKey: "k", MaxRetries: -1})
		}},
		{name: "openrouter", model: func(url string) (llm.Model, error) {
			return openai.New(openai.Options{Provider: "openrouter", Model: "openai/gpt-4.1", BaseURL: url, APIKey: "k", MaxRetries: -1})
		}},
		{name: "anthropic", model: func(url string) (llm.Model, error) {
			return anthropic.New(anthropic.Options{Model: "claude-sonnet-5", BaseURL: url, APIKey: "k", MaxRetries: -1})
		}},
		{name: "gemini", model: func(url string) (llm.Model, error) {
			return gemini.New(gemini.Options{Model: "gemini-3-pro-preview", BaseURL: url, APIKey: "k", MaxRetries: -1})
		}},
		{name: "gemini, older form", older: true, model: func(url string) (llm.Model, error) {
			return gemini.New(gemini.Options{Model: "gemini-3-pro-preview", BaseURL: url, APIKey: "k", MaxRetries: -1})
		}},
	}
	const answer = `{"moments":[{"name":"invoice-7","summary":"Two chairs","total":120.5}]}`
	for _, w := range wires {
		for name, doc := range docs {
			t.Run(w.name+" "+filepath.Base(name), func(t *testing.T) {
				provider := &strictapi.Server{Answer: answer, Older: w.older}
				server := httptest.NewServer(provider)
				defer server.Close()
				m, err := w.model(server.URL)
				if err != nil {
					t.Fatal(err)
				}
				d, err := agent.Parse("invoice.yaml", []byte(doc))
				if err != nil {
					t.Fatal(err)
				}
				a, err := agent.Compile(d)
				if err != nil {
					t.Fatal(err)
				}
				var saved json.RawMessage
				var done *event.DoneData
				for e, err := range run.Stream(t.Context(), run.Options{
					Agent: a, Model: m, RunID: "r", Logger: slog.New(slog.DiscardHandler),
					Messages: []llm.Message{{Role: llm.User, Content: "Read the invoices"}},
					Chained:  newRawTool(t, "save_moments", `{"type":"object","properties":{"moments":{"type":"array"}}}`, &saved),
					Tools: []tool.Tool{
						newRawTool(t, "search", `{"type":"object","properties":{"tags":{"type":"array"},"either":{"type":["array","null"]}}}`, nil),
						newRawTool(t, "tuples", `{"type":"object","properties":{"range":{"type":"array","items":[{"type":"number"},{"type":"number"}]},"any":{"type":"array","items":true}},"$schema":"http://json-schema.org/draft-07/schema#"}`, nil),
						newRawTool(t, "reference", `{"type":"object","$ref":"#/definitions/Node","definitions":{"Node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/definitions/Node"}}}}}}`, nil),
					},
				}) {
					if err != nil {
						_, refused := provider.Seen()
						t.Fatalf("%v: %q", err, refused)
					}
					if data, ok := e.Data.(*event.DoneData); ok {
						done = data
					}
				}
				taken, refused := provider.Seen()
				if w.older { // once, to learn that it is
					refused = slices.DeleteFunc(slices.Clone(refused), func(s string) bool { return strings.Contains(s, "unknown name") })
				}
				if taken != 1 || len(refused) > 0 {
					t.Errorf("%d taken, refused %q", taken, refused)
				}
				if done == nil || string(done.Output) != answer || string(saved) != answer {
					t.Errorf("got %+v, saved %s", done, saved)
				}
			})
		}
	}
}
