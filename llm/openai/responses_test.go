package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

const completed = `data: {"type":"response.completed","response":{"object":"response","status":"completed","output":[]}}` + "\n\n"

func TestResponsesRequest(t *testing.T) {
	half := 0.5
	req := &llm.Request{
		CacheKey: "general",
		Messages: []llm.Message{
			{Role: llm.System, Content: "Be brief."},
			{Role: llm.User, Content: "Look", Parts: []llm.Part{
				{Kind: llm.Image, MediaType: "image/png", Data: []byte("png"), Detail: "low"},
				{Kind: llm.Document, MediaType: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"},
				{Kind: llm.Document, URL: "https://example.com/b.pdf"},
			}},
			{
				Role: llm.Assistant, Content: "Wait.",
				Reasoning: []llm.Reasoning{
					{Provider: "openai-responses", ID: "rs_1", Text: "hm", Signature: "enc"},
					{Provider: "anthropic", Text: "not yours", Signature: "x"},
				},
				ToolCalls: []llm.ToolCall{{ID: "c1", Name: "search", Arguments: `{"q":1}`}},
			},
			{Role: llm.ToolRole, ToolCallID: "c1", Content: "found", Parts: []llm.Part{{Kind: llm.Image, URL: "https://example.com/x.png"}}},
		},
		Tools:      []llm.ToolSpec{{Name: "search", Description: "Searches.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}, {Name: "now"}},
		ToolChoice: "required", ToolName: "now",
		Output:   &llm.Output{Name: "answer", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		Settings: llm.Settings{Temperature: &half, DefaultTemperature: true, MaxTokens: 100, ReasoningEffort: "low", SerialCalls: true, ServiceTier: "auto", Verbosity: "high", SafetyID: "u1"},
	}
	var body string
	var path string
	m := model(t, openai.Options{Provider: "openai-responses", Model: "gpt-5", HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
		b, _ := io.ReadAll(r.Body)
		body, path = string(b), r.URL.Path
		return wiretest.Answer(200, completed), nil
	})})
	chunks, err := wiretest.Collect(t.Context(), m, req)
	if err != nil || len(chunks) != 1 {
		t.Fatalf("%v %v", chunks, err)
	}
	want := `{"model":"gpt-5","input":[{"role":"system","content":"Be brief."},` +
		`{"role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"data:image/png;base64,cG5n","detail":"low"},` +
		`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,cGRm"},{"type":"input_file","file_url":"https://example.com/b.pdf"}]},` +
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc"},` +
		`{"role":"assistant","content":"Wait."},{"type":"function_call","call_id":"c1","name":"search","arguments":"{\"q\":1}"},` +
		`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"found"},{"type":"input_image","image_url":"https://example.com/x.png","detail":"auto"}]}],` +
		`"tools":[{"type":"function","name":"search","description":"Searches.","parameters":{"type":"object","properties":{}},"strict":false},` +
		`{"type":"function","name":"now","parameters":{"type":"object","properties":{}},"strict":false}],"tool_choice":{"type":"function","name":"now"},` +
		`"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{}},"strict":false},"verbosity":"high"},` +
		`"max_output_tokens":100,"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],` +
		`"parallel_tool_calls":false,"service_tier":"auto","safety_identifier":"u1",` +
		`"prompt_cache_key":"general","store":false,"stream":true}`
	if body != want || path != "/v1/responses" {
		t.Errorf("%s got  %s\nwant %s", path, body, want)
	}
}

func TestWhichAPI(t *testing.T) {
	for name, responses := range map[string]bool{
		"gpt-4.1": false, "gpt-5": false, "o3": false, "gpt-5-mini": false,
		"o1-pro": true, "o3-pro-2025-06-10": true, "gpt-5-pro": true, "gpt-5-codex": true, "gpt-5.1-codex-mini": true, "codex-mini-latest": true, "o4-mini-deep-research": true, "gpt-6.1-terra": true,
	} {
		m := model(t, openai.Options{Model: name, MaxRetries: -1, HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			if got := strings.HasSuffix(r.URL.Path, "/responses"); got != responses {
				t.Errorf("%s goes to %s", name, r.URL.Path)
			}
			return wiretest.Answer(500, ""), nil
		})})
		_, _ = wiretest.Collect(t.Context(), m, wiretest.Hello())
	}
}

func TestParts(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{
		{Role: llm.User, Content: "Compare.", Parts: []llm.Part{
			{Kind: llm.Image, URL: "https://example.com/a.png"},
			{Kind: llm.Document, MediaType: "application/pdf", Data: []byte("x")},
			{Kind: llm.Document, URL: "https://example.com/b.pdf", Name: "b.pdf"},
		}},
		{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "shot"}, {ID: "c2", Name: "now"}}},
		{Role: llm.ToolRole, ToolCallID: "c1", Content: "[image]", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/png", Data: []byte("y")}}},
		{Role: llm.ToolRole, ToolCallID: "c2", Content: "noon"},
	}}
	messages := func(body string) string {
		_, rest, _ := strings.Cut(body, `"messages":[`)
		rest, _, _ = strings.Cut(rest, `],"stream"`)
		return rest
	}
	calls := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"shot","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}}]},` +
		`{"role":"tool","content":"[image]","tool_call_id":"c1"},{"role":"tool","content":"noon","tool_call_id":"c2"},` +
		`{"role":"user","content":[{"type":"text","text":"These belong to the results of the tools above."},`
	want := `{"role":"user","content":[{"type":"text","text":"Compare."},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},` +
		`{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,eA=="}},` +
		`{"type":"text","text":"[document b.pdf omitted: this model cannot read it]"}]},` + calls +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,eQ=="}}]}`
	if got := messages(sentBy(t, openai.Options{}, req)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	old := messages(sentBy(t, openai.Options{Model: "gpt-3.5-turbo"}, req))
	if strings.Contains(old, "image_url") || !strings.Contains(old, "[image (image/png) omitted: this model cannot read it]") {
		t.Errorf("a model without eyes got %s", old)
	}
}

// A setting that the model does not take costs a warning and, the first time, a
// refused request.
func TestDroppedSettings(t *testing.T) {
	one := 1.0
	const refused = `{"error":{"message":"Unsupported parameter: '%' is not supported with this model.","type":"invalid_request_error","param":"%","code":"unsupported_parameter"}}`
	tests := []struct {
		name     string
		o        openai.Options
		settings llm.Settings
		refuses  []string // the fields that the server refuses, as it names them
		words    string   // a refusal without a param
		want     string
		calls    int
	}{
		{name: "known", o: openai.Options{Model: "o3"}, settings: llm.Settings{Temperature: &one}, want: "warning setting_dropped: the model openai:o3 does not take temperature; it answers without\n", calls: 1},
		{name: "a default is not missed", o: openai.Options{Model: "o3"}, settings: llm.Settings{Temperature: &one, DefaultTemperature: true}, calls: 1},
		{name: "effort without reasoning", settings: llm.Settings{ReasoningEffort: "high"}, want: "warning setting_dropped: the model openai:gpt-4.1 does not take reasoning_effort; it answers without\n", calls: 1},
		{name: "learned", settings: llm.Settings{TopP: &one}, refuses: []string{"top_p"}, want: "warning setting_dropped: the model openai:gpt-4.1 does not take top_p; it answers without\n", calls: 2},
		{name: "sent and refused", settings: llm.Settings{Seed: new(int64)}, refuses: []string{"seed"}, want: "warning setting_dropped: the model openai:gpt-4.1 does not take seed; it answers without\n", calls: 2},
		{name: "never sent", settings: llm.Settings{Verbosity: "low"}, want: "warning setting_dropped: the model openai:gpt-4.1 does not take verbosity; it answers without\n", calls: 1},
		{name: "two of them", settings: llm.Settings{TopP: &one, Stop: []string{"x"}}, refuses: []string{"top_p", "stop"}, want: "warning setting_dropped: the model openai:gpt-4.1 does not take top_p; it answers without\n" +
			"warning setting_dropped: the model openai:gpt-4.1 does not take stop; it answers without\n", calls: 3},
		{name: "another spelling", settings: llm.Settings{MaxTokens: 5}, refuses: []string{"max_tokens"}, calls: 2},
		{name: "in words", o: openai.Options{Provider: "vllm", BaseURL: "http://x/v1"}, words: "Extra inputs are not permitted: stream_options", calls: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			tt.o.HTTPClient = wiretest.Refusing(good, func(body string) string {
				calls++
				for _, name := range tt.refuses {
					if strings.Contains(body, `"`+name+`":`) {
						return strings.ReplaceAll(refused, "%", name)
					}
				}
				if tt.words != "" && strings.Contains(body, "stream_options") {
					return `{"error":{"message":"` + tt.words + `","type":"invalid_request_error"}}`
				}
				return ""
			})
			m := model(t, tt.o)
			chunks, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: tt.settings})
			if got := wiretest.Show(chunks, err); got != tt.want+"text \"Hi\"\nfinish stop\n" || calls != tt.calls {
				t.Errorf("%d calls, got\n%s", calls, got)
			}
			// What was learned is not forgotten.
			calls = 0
			if _, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: tt.settings}); err != nil || calls != 1 {
				t.Errorf("the second time: %d calls, %v", calls, err)
			}
		})
	}
}

func TestAzure(t *testing.T) {
	for _, tt := range []struct{ base, version, model, want string }{
		{"https://me.openai.azure.com", "", "gpt-4.1", "https://me.openai.azure.com/openai/v1/chat/completions"},
		{"https://me.openai.azure.com/openai/v1/", "", "gpt-5-pro", "https://me.openai.azure.com/openai/v1/responses"},
		{"https://me.openai.azure.com/", "2024-10-21", "my-gpt", "https://me.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"},
		{"https://me.openai.azure.com/openai/deployments/other", "2024-10-21", "my-gpt", "https://me.openai.azure.com/openai/deployments/other/chat/completions?api-version=2024-10-21"},
	} {
		var got, sent string
		m := model(t, openai.Options{Provider: "azure", Model: tt.model, BaseURL: tt.base, APIVersion: tt.version, MaxRetries: -1, HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			got, sent = r.URL.String(), r.Header.Get("Api-Key")+r.Header.Get("Authorization")
			return wiretest.Answer(500, ""), nil
		})})
		_, _ = wiretest.Collect(t.Context(), m, wiretest.Hello())
		if got != tt.want || sent != key {
			t.Errorf("%s: got %s with %q", tt.base, got, sent)
		}
	}
}

func FuzzResponsesStream(f *testing.F) {
	responses().Fuzz(f,
		completed,
		`data: {"type":"response.output_text.delta","delta":"Hi"}`+"\n\n"+completed,
		`data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}}`+"\n\n"+completed,
		`{"object":"response","output":[{"type":"message","content":[{"text":"Hi"}]}]}`,
	)
}
