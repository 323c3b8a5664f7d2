package openai_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

// looked is an answer that thinks, then calls a tool.
const looked = `data: {"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"I look "},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"it up."},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}}

data: [DONE]

`

// Some models refuse a conversation that lacks what they thought: DeepSeek's are
// known, others tell.
func TestThoughtsGoBack(t *testing.T) {
	history := []llm.Message{{Role: llm.User, Content: "hi"}, {Role: llm.Assistant, Content: "Hello."}, {Role: llm.User, Content: "now?"}}
	for provider, refusals := range map[string]int{"deepseek": 0, "vllm": 1} {
		last, calls := "", 0
		m := model(t, openai.Options{Provider: provider, Model: "thinker", BaseURL: "http://x/v1", HTTPClient: wiretest.Refusing(looked, func(body string) string {
			last = body
			calls++
			if strings.Count(body, `"role":"assistant"`) != strings.Count(body, `"reasoning_content":"`) {
				return "{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\",\"param\":null}}"
			}
			return ""
		})})
		ask := func() (thoughts []llm.Reasoning) {
			chunks, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: history})
			if err != nil {
				t.Fatalf("%s: %v", provider, err)
			}
			for _, c := range chunks {
				if c.Kind == llm.ChunkThought {
					thoughts = append(thoughts, *c.Thought)
				}
				if c.Kind == llm.ChunkUsage && (c.Usage.Output != 103 || c.Usage.Reasoning != 94) {
					t.Errorf("%s: usage %+v", provider, c.Usage)
				}
			}
			return thoughts
		}
		ask()
		if calls != 1+refusals {
			t.Errorf("%s: %d requests", provider, calls)
		}
		calls = 0
		thoughts := ask()
		history := append(history, llm.Message{Role: llm.Assistant, Reasoning: thoughts, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "look", Arguments: "{}"}}}, llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Content: "noon"})
		if _, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: history}); err != nil || calls != 2 {
			t.Errorf("%s: %d requests, %v", provider, calls, err)
		}
		if want := `{"role":"assistant","content":null,"reasoning_content":"I look it up.","tool_calls":[`; !strings.Contains(last, want) {
			t.Errorf("%s: sent %s", provider, last)
		}
	}
}

// A model that writes to its cache costs more: the price counts these tokens apart.
func TestCacheWrites(t *testing.T) {
	const chat = `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2006,"completion_tokens":3,"total_tokens":2009,"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":1900}}}` + "\n\ndata: [DONE]\n\n"
	const responses = `data: {"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":2006,"input_tokens_details":{"cached_tokens":100,"cache_write_tokens":1900},"output_tokens":3}}}` + "\n\n"
	for provider, reply := range map[string]string{"openai": chat, "openai-responses": responses} {
		m := model(t, openai.Options{Provider: provider, Model: "gpt-5.6", HTTPClient: wiretest.Says(reply)})
		chunks, err := wiretest.Collect(t.Context(), m, wiretest.Hello())
		want := llm.Usage{Input: 2006, Cached: 100, CacheWrite: 1900, Output: 3}
		if err != nil || chunks[len(chunks)-2].Usage != want {
			t.Errorf("%s: %+v, %v", provider, chunks, err)
		}
	}
}

// OpenAI refuses a request for a tool with alternatives at the root of its schema.
func TestAlternativesAtTheRoot(t *testing.T) {
	req := &llm.Request{Messages: wiretest.Hello().Messages, Tools: []llm.ToolSpec{{Name: "find", Parameters: []byte(`{"type":"object","anyOf":[{"properties":{"id":{}}}]}`)}}}
	for provider, plain := range map[string]bool{"openai": true, "openai-responses": true, "groq": false} {
		var sent string
		m := model(t, openai.Options{Provider: provider, MaxRetries: -1, HTTPClient: refusing(&sent, func(string) string { return "" })})
		_, _ = wiretest.Collect(t.Context(), m, req)
		if strings.Contains(sent, `"anyOf":`) == plain || !strings.Contains(sent, `"properties":{"id":{}}`) {
			t.Errorf("%s was sent %s", provider, sent)
		}
	}
}
