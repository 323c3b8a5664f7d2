package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

// sentBy is the body that a model sends for the request.
func sentBy(t testing.TB, o openai.Options, req *llm.Request) string {
	t.Helper()
	body, _ := wiretest.Sent(t, req, good, func(c *http.Client) llm.Model {
		o.HTTPClient = c
		return model(t, o)
	})
	return body
}

func TestRequest(t *testing.T) {
	zero, half := 0.0, 0.5
	user := []llm.Message{{Role: llm.User, Content: "hi"}}
	seed := int64(7)
	extras := llm.Settings{
		Seed: &seed, FrequencyPenalty: &half, PresencePenalty: &zero, LogitBias: json.RawMessage(`{"1":-100}`), SerialCalls: true,
		ServiceTier: "flex", Verbosity: "low", CacheKey: "k", SafetyID: "u1",
	}
	schema := json.RawMessage("{\n \"type\": \"object\", \"properties\": {}}")
	const (
		head = `{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]`
		tail = `,"stream":true,"stream_options":{"include_usage":true}}`
	)
	tests := []struct {
		name string
		o    openai.Options
		req  llm.Request
		want string
	}{
		{name: "plain", req: llm.Request{Messages: user}, want: head + tail},
		{name: "conversation", req: llm.Request{Messages: []llm.Message{
			{Role: llm.System, Content: "Be \"brief\".\n<b>&\t\x01\xff\u2028"},
			{Role: llm.User, Content: "hi"},
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "search", Arguments: `{"query":"a"}`}, {ID: "c2", Name: "now"}, {ID: "c3", Name: "bad", Arguments: `{"x`}}},
			{Role: llm.ToolRole, ToolCallID: "c1", Name: "search", Content: `{"count":0}`},
			{Role: llm.ToolRole, ToolCallID: "c2", Name: "now"},
			{Role: llm.Assistant, Content: "ok", ToolCalls: []llm.ToolCall{{ID: "c4", Name: "x", Arguments: "{}"}}},
			{Role: llm.Assistant},
		}}, want: `{"model":"gpt-4.1","messages":[` +
			`{"role":"system","content":"Be \"brief\".\n<b>&\t\u0001\ufffd` + "\u2028" + `"},{"role":"user","content":"hi"},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"search","arguments":"{\"query\":\"a\"}"}},` +
			`{"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}},` +
			`{"id":"c3","type":"function","function":{"name":"bad","arguments":"{\"not_an_object\":\"{\\\"x\"}"}}]},` +
			`{"role":"tool","content":"{\"count\":0}","tool_call_id":"c1"},{"role":"tool","content":"","tool_call_id":"c2"},` +
			`{"role":"assistant","content":"ok","tool_calls":[{"id":"c4","type":"function","function":{"name":"x","arguments":"{}"}}]},` +
			`{"role":"assistant","content":""}]` + tail},
		{name: "tools", req: llm.Request{Messages: user, ToolChoice: "required", Tools: []llm.ToolSpec{
			{Name: "search", Description: "Searches.", Parameters: schema}, {Name: "now"},
		}}, want: head + `,"tools":[{"type":"function","function":{"name":"search","description":"Searches.","parameters":` + string(schema) + `}},` +
			`{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}],"tool_choice":"required"` + tail},
		{name: "one tool", req: llm.Request{Messages: user, ToolChoice: "required", ToolName: "now", Tools: []llm.ToolSpec{{Name: "now"}}},
			want: head + `,"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"function","function":{"name":"now"}}` + tail},
		{name: "no tools, no choice", req: llm.Request{Messages: user, ToolChoice: "none"}, want: head + tail},
		{name: "output", req: llm.Request{Messages: user, Output: &llm.Output{Name: "answer", Schema: schema}},
			want: head + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":` + string(schema) + `,"strict":false}}` + tail},
		{name: "settings, zeros included", o: openai.Options{Provider: "openrouter"}, req: llm.Request{Messages: user, Settings: llm.Settings{Temperature: &zero, TopP: &half, MaxTokens: 100, Stop: []string{"END", "\n"}, ReasoningEffort: "low"}},
			want: head + `,"temperature":0,"top_p":0.5,"max_tokens":100,"stop":["END","\n"],"reasoning_effort":"low"` + tail},
		{name: "what not every model takes", req: llm.Request{Messages: user, Tools: []llm.ToolSpec{{Name: "now"}}, Settings: extras},
			want: head + `,"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}]` +
				`,"seed":7,"frequency_penalty":0.5,"presence_penalty":0,"logit_bias":{"1":-100},"parallel_tool_calls":false,"service_tier":"flex","safety_identifier":"u1","prompt_cache_key":"k"` + tail},
		{name: "the same for a reasoning model", o: openai.Options{Model: "gpt-5-mini"}, req: llm.Request{Messages: user, Settings: extras},
			want: strings.Replace(head, "gpt-4.1", "gpt-5-mini", 1) + `,"seed":7,"service_tier":"flex","verbosity":"low","safety_identifier":"u1","prompt_cache_key":"k"` + tail},
		{name: "the same elsewhere", o: openai.Options{Provider: "openrouter"}, req: llm.Request{Messages: user, Settings: extras},
			want: head + `,"seed":7,"frequency_penalty":0.5,"presence_penalty":0,"logit_bias":{"1":-100}` + tail},
		{name: "a reasoning model", o: openai.Options{Model: "o3-mini"}, req: llm.Request{Messages: user, Settings: llm.Settings{Temperature: &half, TopP: &half, MaxTokens: 100}},
			want: strings.Replace(head, "gpt-4.1", "o3-mini", 1) + `,"max_completion_tokens":100` + tail},
		{name: "gpt-5", o: openai.Options{Model: "gpt-5-mini"}, req: llm.Request{Messages: user, Settings: llm.Settings{Temperature: &half, MaxTokens: 100}},
			want: strings.Replace(head, "gpt-4.1", "gpt-5-mini", 1) + `,"max_completion_tokens":100` + tail},
		{name: "gpt-5.2", o: openai.Options{Model: "gpt-5.2"}, req: llm.Request{Messages: user, Settings: llm.Settings{Temperature: &half, MaxTokens: 100}},
			want: strings.Replace(head, "gpt-4.1", "gpt-5.2", 1) + `,"temperature":0.5,"max_completion_tokens":100` + tail},
		{name: "the same name elsewhere", o: openai.Options{Provider: "openrouter", Model: "o3-mini"}, req: llm.Request{Messages: user, Settings: llm.Settings{Temperature: &half, MaxTokens: 100}},
			want: strings.Replace(head, "gpt-4.1", "o3-mini", 1) + `,"temperature":0.5,"max_tokens":100` + tail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sentBy(t, tt.o, &tt.req); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// FuzzRequest: whatever is in a conversation, the body is JSON and says it.
func FuzzRequest(f *testing.F) {
	f.Add("hi \"there\"\x00\xff\u2028", `{"a":1}`)
	f.Add("", "garbage")
	f.Add("", " null")
	f.Add("", `[{"a":1}]`)
	f.Add("", `"{\"a\":1}"`)
	f.Fuzz(func(t *testing.T, text, arguments string) {
		body := sentBy(t, openai.Options{}, &llm.Request{Messages: []llm.Message{
			{Role: llm.User, Content: text}, {Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: text, Name: "x", Arguments: arguments}}},
		}})
		var got struct {
			Messages []struct {
				Content   *string
				ToolCalls []struct {
					Function struct{ Arguments string }
				} `json:"tool_calls"`
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if said := *got.Messages[0].Content; utf8.ValidString(text) && said != text {
			t.Errorf("got %q, want %q", said, text)
		}
		var sent map[string]json.RawMessage
		if err := json.Unmarshal([]byte(got.Messages[1].ToolCalls[0].Function.Arguments), &sent); err != nil || sent == nil {
			t.Errorf("the arguments %q are no object", got.Messages[1].ToolCalls[0].Function.Arguments)
		}
	})
}

func TestNew(t *testing.T) {
	tests := []struct {
		o    openai.Options
		want string // the hint
	}{
		{openai.Options{}, `name the model too, as in "openai:gpt-4.1"`},
		{openai.Options{Model: "gpt-4.1"}, "openai:gpt-4.1 needs an API key; set P8_OPENAI_API_KEY or OPENAI_API_KEY"},
		{openai.Options{Provider: "groq", Model: "x"}, "groq:x needs an API key; set GROQ_API_KEY"},
		{openai.Options{Provider: "vllm", Model: "x"}, "the provider vllm has no base URL of its own; set VLLM_BASE_URL"},
		{openai.Options{Model: "x", BaseURL: "localhost:1234"}, "the base URL of openai is not an http or https URL such as http://localhost:1234/v1"},
		{openai.Options{Model: "x", BaseURL: "http://localhost:1234/v1"}, ""},
		{openai.Options{Provider: "mine", Model: "x", BaseURL: "https://x"}, ""},
	}
	for _, tt := range tests {
		_, err := openai.New(tt.o)
		wiretest.Hint(t, tt.o, err, llm.NoModel, tt.want)
	}
}

func TestCapabilities(t *testing.T) {
	for name, want := range map[string]bool{
		"gpt-4.1": true, "gpt-4o-mini": true, "gpt-5": true, "o3": true, "o4-mini": true, "ft:gpt-4o-mini-2024-07-18:x::y": true,
		"gpt-4": false, "gpt-4-turbo": false, "gpt-3.5-turbo": false, "o1-mini": false, "chatgpt-4o-latest": false, "qwen3": false,
	} {
		if got := model(t, openai.Options{Model: name}).Capabilities().NativeOutput; got != want {
			t.Errorf("%s: native output %t", name, got)
		}
	}
	if model(t, openai.Options{Provider: "openrouter", Model: "gpt-4.1"}).Capabilities().NativeOutput {
		t.Error("openrouter: native output")
	}
}

func TestProviders(t *testing.T) {
	env := wiretest.Env{}
	var asked string
	providers := openai.Providers(llm.ProvidersOptions{
		Getenv: env.Get,
		HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String() + " " + r.Header.Get("Authorization")
			return wiretest.Answer(200, good), nil
		}),
	})
	tests := []struct{ provider, env, want string }{
		{"openai", "OPENAI_API_KEY=a", "https://api.openai.com/v1/chat/completions Bearer a"},
		{"openai", "P8_OPENAI_API_KEY=p OPENAI_API_KEY=a", "https://api.openai.com/v1/chat/completions Bearer p"},
		{"openai", "OPENAI_BASE_URL=http://localhost:1/v1/", "http://localhost:1/v1/chat/completions "},
		{"openai", "P8_OPENAI_BASE_URL=http://p8/v1 OPENAI_BASE_URL=http://x/v1 OPENAI_API_KEY=a", "http://p8/v1/chat/completions Bearer a"},
		{"ollama", "", "http://127.0.0.1:11434/v1/chat/completions "},
		{"ollama", "OLLAMA_HOST=0.0.0.0:99", "http://127.0.0.1:99/v1/chat/completions "},
		{"ollama", "OLLAMA_BASE_URL=http://gpu/v1 OLLAMA_HOST=x", "http://gpu/v1/chat/completions "},
		{"vllm", "VLLM_BASE_URL=http://gpu:8000/v1", "http://gpu:8000/v1/chat/completions "},
		{"openrouter", "OPENROUTER_API_KEY=a", "https://openrouter.ai/api/v1/chat/completions Bearer a"},
		{"groq", "GROQ_API_KEY=a", "https://api.groq.com/openai/v1/chat/completions Bearer a"},
		{"deepseek", "DEEPSEEK_API_KEY=a", "https://api.deepseek.com/v1/chat/completions Bearer a"},
		{"cerebras", "CEREBRAS_API_KEY=a", "https://api.cerebras.ai/v1/chat/completions Bearer a"},
	}
	for _, tt := range tests {
		env.Set(tt.env)
		m, err := providers[tt.provider]("m")
		if err != nil {
			t.Errorf("%s with %s: %v", tt.provider, tt.env, err)
			continue
		}
		if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil {
			t.Fatal(err)
		}
		if asked != tt.want || m.Name() != tt.provider+":m" {
			t.Errorf("%s with %s: %s asked %s", tt.provider, tt.env, m.Name(), asked)
		}
	}
}

func ExampleProviders() {
	env := map[string]string{"OPENAI_API_KEY": "sk-..."}
	models := llm.NewRegistry(llm.RegistryOptions{
		Providers: openai.Providers(llm.ProvidersOptions{Getenv: func(name string) string { return env[name] }}),
	})
	model, err := models.Resolve("gpt-4.1")
	fmt.Println(model.Name(), err)
	_, err = models.Resolve("groq:llama-3.3-70b-versatile")
	fmt.Println(err)
	// Output:
	// openai:gpt-4.1 <nil>
	// no language model is configured: groq:llama-3.3-70b-versatile needs an API key; set GROQ_API_KEY
}

// BenchmarkRequest is the body of a request with a history and tools.
func BenchmarkRequest(b *testing.B) {
	req := &llm.Request{Tools: []llm.ToolSpec{{Name: "search", Description: "Searches.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}}
	for range 20 {
		req.Messages = append(req.Messages, llm.Message{Role: llm.User, Content: strings.Repeat("What is a session?\n", 20)})
	}
	m := model(b, openai.Options{MaxRetries: -1, HTTPClient: wiretest.Client(func(*http.Request) (*http.Response, error) { return nil, io.EOF })})
	b.ReportAllocs()
	for b.Loop() {
		for range m.Stream(b.Context(), req) {
		}
	}
}
