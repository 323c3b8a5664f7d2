package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/gemini"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

func TestNew(t *testing.T) {
	const badName = "the name of a model has letters, digits, dots, dashes and underscores, as in gemini-2.5-flash or tunedModels/mine"
	tests := []struct {
		o    gemini.Options
		kind llm.ErrorKind
		want string // the hint
	}{
		{gemini.Options{}, llm.NoModel, `name the model too, as in "gemini:gemini-2.5-flash"`},
		{gemini.Options{Model: "models/"}, llm.NoModel, `name the model too, as in "gemini:gemini-2.5-flash"`},
		{gemini.Options{Model: "gemini-2.5-flash"}, llm.NoModel, "gemini:gemini-2.5-flash needs an API key; set P8_GEMINI_API_KEY or GEMINI_API_KEY"},
		{gemini.Options{Model: "x", BaseURL: "localhost:1234"}, llm.NoModel, "the base URL of gemini is not an http or https URL such as https://generativelanguage.googleapis.com; it is in P8_GEMINI_BASE_URL or GOOGLE_GEMINI_BASE_URL"},
		{gemini.Options{Model: "a/b", APIKey: key}, llm.NotFound, badName},
		{gemini.Options{Model: "../x", APIKey: key}, llm.NotFound, badName},
		{gemini.Options{Model: "x:generateContent", APIKey: key}, llm.NotFound, badName},
		{gemini.Options{Model: "x?key=1", APIKey: key}, llm.NotFound, badName},
		{gemini.Options{Model: "models/tunedModels/../x", APIKey: key}, llm.NotFound, badName},
		{gemini.Options{Model: strings.Repeat("x", 129), APIKey: key}, llm.NotFound, badName},
		{gemini.Options{Model: "x", BaseURL: "http://localhost:1234"}, "", ""},
	}
	for _, tt := range tests {
		_, err := gemini.New(tt.o)
		wiretest.Hint(t, tt.o, err, tt.kind, tt.want)
	}
}

func TestCapabilities(t *testing.T) {
	for name, want := range map[string]llm.Capabilities{
		"gemini-3-flash-preview": {NativeOutput: true, Images: true, Documents: true},
		"gemini-3.1-pro-preview": {NativeOutput: true, Images: true, Documents: true},
		"gemini-2.5-pro":         {Images: true, Documents: true},
		"gemini-flash-latest":    {Images: true, Documents: true},
		"gemma-3-27b-it":         {Images: true},
	} {
		if got := model(t, gemini.Options{Model: name}).Capabilities(); got.Takes != llm.TakesSeed|llm.TakesPenalties || got.NativeOutput != want.NativeOutput || got.Images != want.Images || got.Documents != want.Documents {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestProviders(t *testing.T) {
	env := wiretest.Env{}
	var asked string
	providers := gemini.Providers(llm.ProvidersOptions{
		Getenv: env.Get,
		HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			asked = r.Method + " " + r.URL.String() + " " + r.Header.Get("x-goog-api-key")
			return wiretest.Answer(200, good), nil
		}),
	})
	const google = "POST https://generativelanguage.googleapis.com/v1beta/"
	tests := []struct{ provider, model, env, want string }{
		{"gemini", "gemini-2.5-flash", "GOOGLE_API_KEY=a", google + "models/gemini-2.5-flash:streamGenerateContent?alt=sse a"},
		{"google", "models/m", "GEMINI_API_KEY=b GOOGLE_API_KEY=a", google + "models/m:streamGenerateContent?alt=sse b"},
		{"google-gla", "tunedModels/m-1", "P8_GEMINI_API_KEY=c GEMINI_API_KEY=b", google + "tunedModels/m-1:streamGenerateContent?alt=sse c"},
		{"google-gemini", "m", "GEMINI_BASE_URL=http://x:1/", "POST http://x:1/v1beta/models/m:streamGenerateContent?alt=sse "},
		{"gemini", "m", "GOOGLE_GEMINI_BASE_URL=http://y/v1beta GEMINI_BASE_URL=http://x", "POST http://y/v1beta/models/m:streamGenerateContent?alt=sse "},
		{"gemini", "m", "P8_GEMINI_BASE_URL=http://z/proxy/v1/?tenant=7 GOOGLE_GEMINI_BASE_URL=http://y", "POST http://z/proxy/v1/models/m:streamGenerateContent?alt=sse&tenant=7 "},
		{"gemini", "m", "GEMINI_BASE_URL=http://x/vertex", "POST http://x/vertex/v1beta/models/m:streamGenerateContent?alt=sse "},
	}
	for _, tt := range tests {
		env.Set(tt.env)
		m, err := providers[tt.provider](tt.model)
		if err != nil {
			t.Errorf("%s with %s: %v", tt.provider, tt.env, err)
			continue
		}
		if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil {
			t.Fatal(err)
		}
		if asked != tt.want || m.Name() != "gemini:"+strings.TrimPrefix(tt.model, "models/") {
			t.Errorf("%s with %s: %s asked %s", tt.provider, tt.env, m.Name(), asked)
		}
	}
	if len(providers) != 4 {
		t.Errorf("%d names", len(providers))
	}
	if m, err := providers["gemini"](""); err == nil || m != nil {
		t.Errorf("a model without a name: %v", m)
	}
}

func ExampleProviders() {
	env := map[string]string{"GEMINI_API_KEY": "..."}
	providers := gemini.Providers(llm.ProvidersOptions{Getenv: func(name string) string { return env[name] }})
	model, err := providers["google"]("gemini-2.5-flash")
	fmt.Println(model, err)
	delete(env, "GEMINI_API_KEY")
	_, err = providers["google"]("gemini-2.5-flash")
	fmt.Println(err)
	// Output:
	// gemini:gemini-2.5-flash <nil>
	// no language model is configured: gemini:gemini-2.5-flash needs an API key; set P8_GEMINI_API_KEY or GEMINI_API_KEY
}

// TestMend plays refusals, and looks at what is sent next and whether it lasts.
func TestMend(t *testing.T) {
	half := 0.5
	const schema = `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`
	req := &llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "hi"},
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "look"}}}, {Role: llm.ToolRole, ToolCallID: "1"}},
		Tools:    []llm.ToolSpec{{Name: "look", Parameters: json.RawMessage(schema)}, {Name: "now", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
		Settings: llm.Settings{Temperature: &half, TopP: &half, MaxTokens: 9, Stop: []string{"x"}, ReasoningEffort: "low"},
	}
	tests := []struct {
		name, words, without, with string
		warning                    string
		lasts                      bool
	}{
		{"schemas", `Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field.`,
			"parametersJsonSchema", `{"name":"look","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},{"name":"now"}`, "", true},
		{"a word of a schema", `* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[a].enum[0]: cannot be empty`, "parametersJsonSchema", `"parameters":`, "", false},
		{"a word of a schema, named in full", `* GenerateContentRequest.tools[0].function_declarations[0].parameters_json_schema.properties[a].enum[0]: cannot be empty`, "parametersJsonSchema", `"parameters":`, "", false},
		{"a reference", "$ref 'X' was set alongside unsupported fields.", "parametersJsonSchema", `"parameters":`, "", false},
		{"system", "Developer instruction is not enabled for models/x", "systemInstruction", `[System] Be brief.`, "", true},
		{"ids", `Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`, `"id":`, "functionResponse", "", true},
		{"signatures", "Function call is missing a thought_signature in functionCall parts.", `"args":{}}}]}`, `"args":{}},"thoughtSignature":"skip_thought_signature_validator"}`, "", true},
		{"thinking", "Thinking is not enabled for models/x", "thinkingConfig", "temperature", "reasoning_effort", false},
		{"temperature", "Unable to submit request: temperature is out of range", "temperature", "topP", "temperature", false},
		{"top_p", "topP must be 1", "topP", "temperature", "top_p", false},
		{"max_tokens", "max_output_tokens is too large", "maxOutputTokens", "topP", "max_tokens", false},
		{"stop", "stop sequences are not supported", "stopSequences", "topP", "stop", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refuse, bodies := true, []string{}
			m := model(t, gemini.Options{Model: "gemini-x", HTTPClient: wiretest.Refusing(good, func(body string) string {
				bodies = append(bodies, body)
				if refuse && strings.Contains(body, tt.without) {
					words, _ := json.Marshal(tt.words)
					return `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":` + string(words) + `}}`
				}
				return ""
			})})
			chunks, err := wiretest.Collect(t.Context(), m, req)
			if err != nil || len(bodies) != 2 || strings.Contains(bodies[1], tt.without) || !strings.Contains(bodies[1], tt.with) {
				t.Fatalf("%v after %d tries, the last with %s", err, len(bodies), bodies[len(bodies)-1])
			}
			want := []llm.Chunk{{Kind: llm.ChunkText, Text: "Hi"}, {Kind: llm.ChunkFinish, Finish: llm.FinishStop}}
			if tt.warning != "" {
				want = append([]llm.Chunk{{Kind: llm.ChunkWarning, Name: "setting_dropped", Text: "the model gemini:gemini-x does not take " + tt.warning + "; it answers without"}}, want...)
			}
			if d := cmp.Diff(want, chunks); d != "" {
				t.Error(d)
			}
			refuse = false
			if _, err := wiretest.Collect(t.Context(), m, req); err != nil || strings.Contains(bodies[2], tt.without) != !tt.lasts {
				t.Errorf("%v, the next request is %s", err, bodies[2])
			}
		})
	}
	t.Run("what was about something else", func(t *testing.T) {
		refuse, last := true, ""
		m := model(t, gemini.Options{Model: "gemini-x", HTTPClient: wiretest.Refusing(good, func(body string) string {
			if last = body; refuse {
				return `{"error":{"code":400,"message":"the system instruction is against the policy"}}`
			}
			return ""
		})})
		if _, err := wiretest.Collect(t.Context(), m, req); err == nil {
			t.Error("no error")
		}
		refuse = false
		if _, err := wiretest.Collect(t.Context(), m, req); err != nil || !strings.Contains(last, "systemInstruction") {
			t.Errorf("%v, the next request is %s", err, last)
		}
	})
	t.Run("what cannot be mended", func(t *testing.T) {
		for _, words := range []string{"Function calling is not enabled for models/x", "Thinking is not enabled", "temperature"} {
			calls := 0
			m := model(t, gemini.Options{HTTPClient: wiretest.Refusing(good, func(string) string {
				calls++
				return `{"error":{"code":400,"message":"` + words + `"}}`
			})})
			_, err := wiretest.Collect(t.Context(), m, wiretest.Hello())
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != llm.BadRequest || calls != 1 {
				t.Errorf("%s: %v after %d calls", words, err, calls)
			}
		}
	})
}

// TestRetries: what Google asks for in the details is waited for; who hands over
// to another model does not wait.
func TestRetries(t *testing.T) {
	const busy = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}`
	kit().Retries(t, []wiretest.Retry{
		{Name: "waited for", Replies: []*http.Response{wiretest.Answer(429, busy), wiretest.Answer(200, good)}, Want: "Hi", Calls: 2, Min: 7 * time.Second, Max: 8 * time.Second},
		{Name: "handed over", Replies: []*http.Response{wiretest.Answer(429, busy)}, Once: true, Want: "rate_limit_exceeded", Calls: 1},
	})
}

func TestNothingLeaks(t *testing.T) {
	o := gemini.Options{Model: "gemini-2.5-flash", APIKey: key, BaseURL: "http://user:" + key + "@127.0.0.1:1/?key=" + key, MaxRetries: -1}
	m, err := gemini.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Endpoint(); got != "http://127.0.0.1:1" {
		t.Errorf("the endpoint is %s", got)
	}
	_, badKey := gemini.New(gemini.Options{Model: "m", APIKey: "\n" + key + "\n" + key})
	if badKey == nil {
		t.Error("a key with a line end is taken")
	}
	wiretest.NoLeaks(t, key, m, o, &o, badKey)
}

// TestManyAtOnce runs against a real server: one model, many requests, the key in
// the header alone.
func TestManyAtOnce(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Goog-Api-Key") != key || strings.Contains(r.URL.String(), key) {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, good)
	}))
	defer s.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	m := model(t, gemini.Options{BaseURL: s.URL, HTTPClient: &http.Client{Transport: tr}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if chunks, err := wiretest.Collect(context.Background(), m, wiretest.Hello()); err != nil || len(chunks) != 2 {
				t.Errorf("%d chunks, %v", len(chunks), err)
			}
		})
	}
	wg.Wait()
}
