package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
)

// spy is a chat that records its requests and answers nothing.
type spy struct {
	api.Chat
	id  identity.Identity
	req chat.Request
}

func (s *spy) Start(ctx context.Context, req chat.Request) (*chat.Turn, error) {
	s.id, _ = identity.From(ctx)
	s.req = req
	return nil, chat.ErrOverloaded
}

// askChat sends a chat request to a server with a spy.
func askChat(t *testing.T, path, body string, headers ...string) *spy {
	t.Helper()
	real := newServer(t, setup{noStore: true})
	s := new(spy)
	real.Handler = api.New(api.Options{Chat: s, Catalog: real.catalog, TrustHeaders: true, Logger: slog.New(slog.DiscardHandler)})
	if w := real.do("POST", path, body, headers...); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	return s
}

// TestPrecedence: the agent and the model that a request gets.
func TestPrecedence(t *testing.T) {
	const agent, name, model = "X-Agent-Schema: ", "x-agent-schema-name: ", "X-Model-Name: "
	for _, c := range []struct {
		why     string
		body    string
		headers []string
		agent   string
		model   string
	}{
		{why: "neither: the chat decides"},
		{why: "an agent in the body", body: "sample-agent", agent: "sample-agent"},
		{why: "a model in the body", body: "openai:gpt-4.1", model: "openai:gpt-4.1"},
		{why: "a bare model in the body", body: "gpt-4.1", model: "gpt-4.1"},
		{why: "which agent is left to p8", body: "auto", agent: "auto"},
		{why: "the header beats that, too", body: "auto", headers: []string{agent + "general"}, agent: "general"},
		{why: "or leaves it to p8", body: "general", headers: []string{agent + "auto"}, agent: "auto"},
		{why: "the header beats the body's agent", body: "sample-agent", headers: []string{agent + "general"}, agent: "general"},
		{why: "p8's name of the header", headers: []string{name + "general"}, agent: "general"},
		{why: "REM's name of it first", headers: []string{name + "general", agent + "sample-agent"}, agent: "sample-agent"},
		{why: "agent by header, model by body", body: "openai:o3", headers: []string{agent + "general"}, agent: "general", model: "openai:o3"},
		{why: "the header beats the body's model", body: "gpt-4.1", headers: []string{model + "ollama:qwen3"}, model: "ollama:qwen3"},
		{why: "agent by body, model by header", body: "sample-agent", headers: []string{model + "ollama:qwen3"}, agent: "sample-agent", model: "ollama:qwen3"},
	} {
		body := `{"messages":[{"role":"user","content":"x"}],"model":"` + c.body + `"}`
		s := askChat(t, "/v1/chat/completions", body, c.headers...)
		// Like package chat: the request wins over the identity.
		if got := first(s.req.Agent, s.id.AgentSchemaURI); got != c.agent {
			t.Errorf("%s: agent %q, want %q", c.why, got, c.agent)
		}
		if got := first(s.req.Model, s.id.DefaultModel); got != c.model {
			t.Errorf("%s: model %q, want %q", c.why, got, c.model)
		}
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestRequest: every field and header reaches the chat.
func TestRequest(t *testing.T) {
	s := askChat(t, "/chat/completions/from-path", `{
		"model": "sample-agent",
		"messages": [
			{"role": "system", "content": "Be short."},
			{"role": "user", "content": "one"},
			{"role": "assistant", "content": null, "tool_calls": [{"id": "c1"}]},
			{"role": "tool", "tool_call_id": "c1", "content": "42"},
			{"role": "assistant", "content": [{"type": "text", "text": "two"}]},
			{"role": "developer", "content": "No jokes."},
			{"role": "user", "name": "al", "content": [{"type": "text", "text": "three"}, {"type": "text", "text": "four"}]}
		],
		"temperature": 0, "top_p": 0.5, "max_tokens": 10, "max_completion_tokens": 20, "stop": "END",
		"n": 1, "response_format": {"type": "text"}, "tools": [], "logprobs": false,
		"user": "mallory", "store": true, "metadata": {"ticket": "7"}, "Seed": 7, "max_token": 5, "top_k": 1,
		"frequency_penalty": 0.5, "presence_penalty": 0, "logit_bias": {"5": -100}, "parallel_tool_calls": false,
		"service_tier": "flex", "verbosity": "low", "prompt_cache_key": "k", "safety_identifier": "u1",
		"modalities": ["text"], "audio": null, "functions": [], "function_call": null
	}`,
		"X-Session-Id: from-header", "X-Added-Instruction: En fran\xe7ais.", "X-Session-Name: Números",
		"X-User-Id: alice", "X-Tenant-Id: acme", "X-Client-Id: web", "X-Is-Eval: yes")
	zero, half, seed := 0.0, 0.5, int64(7)
	want := chat.Request{
		Agent: "sample-agent",
		Input: "three\nfour",
		History: []llm.Message{
			{Role: llm.User, Content: "one"}, {Role: llm.Assistant, Content: "two"},
		},
		Instruction:     "Be short.\n\nNo jokes.\n\nEn français.",
		SessionName:     "Números",
		SessionMetadata: map[string]any{"ticket": "7"},
		Settings: llm.Settings{
			Temperature: &zero, TopP: &half, MaxTokens: 20, Stop: []string{"END"}, Seed: &seed, FrequencyPenalty: &half, PresencePenalty: &zero,
			LogitBias: json.RawMessage(`{"5":-100}`), SerialCalls: true, ServiceTier: "flex", Verbosity: "low", CacheKey: "k", SafetyID: "u1",
		},
		Warnings: []event.WarningData{
			{Code: "unknown_field", Message: `p8 has no field "max_token", so it was ignored; did you mean max_tokens?`},
			{Code: "unknown_field", Message: `p8 has no field "top_k", so it was ignored; did you mean top_p?`},
		},
		Protocol: "openai",
	}
	if diff := cmp.Diff(want, s.req); diff != "" {
		t.Error(diff)
	}
	who := identity.Identity{UserID: "alice", TenantID: "acme", SessionID: "from-path", ClientID: "web", IsEval: true}
	if diff := cmp.Diff(who, s.id); diff != "" {
		t.Error(diff)
	}
}

// TestQuery: structured input needs no messages.
func TestQuery(t *testing.T) {
	s := askChat(t, "/chat/completions", `{"query":{"query":"Who?","knowledge":"# Entity: sarah","scratchpad":{"stage":"lookup"}},"stop":["a","b"]}`)
	want := &run.Query{Query: "Who?", Knowledge: "# Entity: sarah", Scratchpad: json.RawMessage(`{"stage":"lookup"}`)}
	if diff := cmp.Diff(want, s.req.Query); diff != "" {
		t.Error(diff)
	}
	if s.id.TenantID != identity.DefaultTenant || !s.id.Anonymous() || len(s.req.Settings.Stop) != 2 {
		t.Errorf("%+v %+v", s.id, s.req)
	}
}

// TestScripts: an agent that is a script is found by its name, with its switches.
func TestScripts(t *testing.T) {
	builtin, err := catalog.New(catalog.Options{Builtin: agents.Files(), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	s := new(spy)
	real := &server{Handler: api.New(api.Options{Chat: s, Catalog: builtin, Logger: slog.New(slog.DiscardHandler)})}
	real.do("POST", "/v1/chat/completions?seed=7", `{"model":"simulator","messages":[{"role":"user","content":"x"}]}`)
	if s.req.Agent != "simulator" || s.req.Options["seed"] != "7" {
		t.Errorf("%+v", s.req)
	}
	if w := real.do("GET", "/v1/models/simulator", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestUntrustedHeaders: without trust, identity headers are ignored.
func TestUntrustedHeaders(t *testing.T) {
	real := newServer(t, setup{noStore: true})
	s := new(spy)
	real.Handler = api.New(api.Options{Chat: s, Catalog: real.catalog, Logger: slog.New(slog.DiscardHandler)})
	real.do("POST", "/v1/chat/completions", hello, "X-User-Id: alice", "X-Tenant-Id: acme", "X-Session-Id: s")
	if !s.id.Anonymous() || s.id.TenantID != identity.DefaultTenant || s.id.SessionID != "s" {
		t.Errorf("%+v", s.id)
	}
}

// FuzzBody: no body makes the server fail, and no turn starts without a message.
func FuzzBody(f *testing.F) {
	for _, s := range []string{hello, `{}`, `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`, `{"stop":[1]}`, `{"query":null}`, "{\"n\":\n1e9}",
		user(image("data:image/png;base64," + base(pngData))), user(file("a.md", base("# a"))), user(`{"type":"image_url","image_url":"https://a"}`)} {
		f.Add(s)
	}
	catalog := newServer(f, setup{noStore: true}).catalog
	f.Fuzz(func(t *testing.T, body string) {
		s := new(spy)
		h := api.New(api.Options{Chat: s, Catalog: catalog, Logger: slog.New(slog.DiscardHandler)})
		w := (&server{Handler: h}).do("POST", "/v1/chat/completions", body, "Content-Type: application/json")
		switch {
		case w.Code == http.StatusServiceUnavailable:
			if s.req.Input == "" && s.req.Query == nil && len(s.req.Parts) == 0 {
				t.Errorf("a turn without a message began: %q", body)
			}
		case w.Code < 400 || w.Code >= 500 || !json.Valid(w.Body.Bytes()):
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
