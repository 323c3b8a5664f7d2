package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
)

// TestPromptCache: the marks stand behind the tools, the first and the last system
// message and the last message.
func TestPromptCache(t *testing.T) {
	schema := json.RawMessage("{\n \"type\": \"object\", \"properties\": {}}")
	req := llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "S1"}, {Role: llm.System, Content: "S2"}, {Role: llm.System, Content: "S3"}, user("hi"), calls("", "a"), result("a", "A")},
		Tools:    []llm.ToolSpec{{Name: "now"}, {Name: "search", Description: "Searches.", Parameters: schema}},
	}
	const body = `{"model":"claude-sonnet-4-5","max_tokens":8192,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}},` +
		"{\"name\":\"search\",\"description\":\"Searches.\",\"input_schema\":{\n \"type\": \"object\", \"properties\": {}}MARK}]," +
		`"system":[{"type":"text","text":"S1"MARK},{"type":"text","text":"S2"},{"type":"text","text":"S3"MARK}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"search","input":{"q":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"MARK}]}],"stream":true}`
	for setting, mark := range map[string]string{
		"": `,"cache_control":{"type":"ephemeral"}`, "5m": `,"cache_control":{"type":"ephemeral"}`, "1h": `,"cache_control":{"type":"ephemeral","ttl":"1h"}`, "off": "",
	} {
		req.Settings.PromptCache = setting
		got, _ := sentBy(t, anthropic.Options{}, &req)
		if want := strings.ReplaceAll(body, "MARK", mark); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", setting, got, want)
		}
	}
}

// TestSettings: what each generation of models is sent, and what is warned of.
func TestSettings(t *testing.T) {
	tools := []llm.ToolSpec{{Name: "now"}}
	looped := []llm.Message{user("hi"), calls("", "a"), result("a", "A")}
	tests := []struct {
		name, model string
		req         llm.Request
		want        string // from max_tokens on, without the messages
		warnings    string
	}{
		{"an old model", "claude-3-haiku-20240307", llm.Request{Settings: llm.Settings{Temperature: ptr(0), MaxTokens: 9000, ReasoningEffort: "low"}}, `4096,"temperature":0`,
			"claude-3-haiku-20240307: reasoning_effort is left out, as the model does not think\nclaude-3-haiku-20240307: max_tokens is 4096, as the model takes no more\n"},
		{"sampling", "", llm.Request{Settings: llm.Settings{Temperature: ptr(1.7), TopP: ptr(0.5), MaxTokens: 10, Stop: []string{"END", "\n"}}}, `10,"temperature":1,"stop_sequences":["END"]`,
			"claude-sonnet-4-5: temperature is 1, as the model takes no more\nclaude-sonnet-4-5: top_p is left out, as the model takes it or a temperature\nclaude-sonnet-4-5: a stop sequence of nothing but white space is left out, as the model takes none\n"},
		{"top_p alone", "", llm.Request{Settings: llm.Settings{TopP: ptr(0.5)}}, `8192,"top_p":0.5`, ""},
		{"top_p beside a temperature that nobody asked for", "", llm.Request{Settings: llm.Settings{Temperature: ptr(0), DefaultTemperature: true, TopP: ptr(0.5)}}, `8192,"top_p":0.5`, ""},
		{"effort minimal", "", llm.Request{Settings: llm.Settings{ReasoningEffort: "minimal"}}, `9216,"thinking":{"type":"enabled","budget_tokens":1024}`, ""},
		{"effort low", "", llm.Request{Settings: llm.Settings{ReasoningEffort: "low", MaxTokens: 100}}, `2148,"thinking":{"type":"enabled","budget_tokens":2048}`, ""},
		{"effort medium", "claude-3-7-sonnet-latest", llm.Request{Settings: llm.Settings{ReasoningEffort: "medium", Temperature: ptr(0.5), TopP: ptr(1)}}, `12288,"thinking":{"type":"enabled","budget_tokens":8192}`,
			"claude-3-7-sonnet-latest: temperature is left out, as the model takes none while it thinks\nclaude-3-7-sonnet-latest: top_p is left out, as the model takes none while it thinks\n"},
		{"effort high, near the limit", "claude-opus-4-1-20250805", llm.Request{Settings: llm.Settings{ReasoningEffort: "high", MaxTokens: 20000}}, `32000,"thinking":{"type":"enabled","budget_tokens":16000}`, ""},
		{"effort none", "", llm.Request{Settings: llm.Settings{ReasoningEffort: "none", Temperature: ptr(0.5)}}, `8192,"temperature":0.5`, ""},
		{"an effort that there is not", "", llm.Request{Settings: llm.Settings{ReasoningEffort: "huge"}}, `8192`, "claude-sonnet-4-5: reasoning_effort \"huge\" is left out: it is none of none, minimal, low, medium and high\n"},
		{"thinking cannot begin within a loop", "", llm.Request{Messages: looped, Settings: llm.Settings{ReasoningEffort: "high"}}, `8192`, "claude-sonnet-4-5: reasoning_effort is left out for this step, as the one before it came without the model's own thoughts\n"},
		{"an adaptive model does", "claude-opus-4-6", llm.Request{Messages: looped, Settings: llm.Settings{ReasoningEffort: "minimal"}}, `32768,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}`, ""},
		{"adaptive, sampling allowed", "claude-sonnet-4-6", llm.Request{Settings: llm.Settings{Temperature: ptr(0.5)}}, `32768,"temperature":0.5`, ""},
		{"adaptive, no sampling", "claude-opus-4-7", llm.Request{Settings: llm.Settings{Temperature: ptr(0.5), TopP: ptr(0.5), ReasoningEffort: "none"}}, `32768`,
			"claude-opus-4-7: temperature is left out, as the model takes none\nclaude-opus-4-7: top_p is left out, as the model takes none\n"},
		{"a temperature that nobody asked for", "claude-opus-4-7", llm.Request{Settings: llm.Settings{Temperature: ptr(0.5), DefaultTemperature: true}}, `32768`, ""},
		{"the temperature that it is anyway", "claude-opus-4-7", llm.Request{Settings: llm.Settings{Temperature: ptr(1)}}, `32768`, ""},
		{"off, when thought is usual", "claude-sonnet-5", llm.Request{Settings: llm.Settings{ReasoningEffort: "none"}}, `32768,"thinking":{"type":"disabled"}`, ""},
		{"thought that nobody asked for is shown", "claude-opus-5", llm.Request{}, `32768,"thinking":{"type":"adaptive","display":"summarized"}`, ""},
		{"a default limit leaves room for thought", "claude-sonnet-5-5", llm.Request{Settings: llm.Settings{MaxTokens: 4000, DefaultMaxTokens: true}}, `32000,"thinking":{"type":"adaptive","display":"summarized"}`, ""},
		{"a limit that was asked for does not", "claude-sonnet-5-5", llm.Request{Settings: llm.Settings{MaxTokens: 4000}}, `4000,"thinking":{"type":"adaptive","display":"summarized"}`, ""},
		{"a default limit without thought", "", llm.Request{Settings: llm.Settings{MaxTokens: 4000, DefaultMaxTokens: true}}, `4000`, ""},
		{"off, newer", "claude-sonnet-5-5", llm.Request{Settings: llm.Settings{ReasoningEffort: "none"}}, `32768,"thinking":{"type":"between_tools"}`, ""},
		{"off, when it cannot be", "claude-opus-5-5", llm.Request{Settings: llm.Settings{ReasoningEffort: "none"}}, `32768,"output_config":{"effort":"low"}`, "claude-opus-5-5: reasoning_effort is low, as the model cannot be kept from thinking\n"},
		{"without a number", "claude-mythos-preview", llm.Request{Settings: llm.Settings{ReasoningEffort: "high"}}, `32768,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}`, ""},
		{"no tool", "", llm.Request{Tools: tools, ToolChoice: "none"}, `8192,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}`, ""},
		{"some tool", "", llm.Request{Tools: tools, ToolChoice: "required"}, `8192,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}`, ""},
		{"one call at most", "", llm.Request{Tools: tools, Settings: llm.Settings{SerialCalls: true}}, `8192,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`, ""},
		{"settings of others", "", llm.Request{Settings: llm.Settings{Seed: new(int64), Verbosity: "low", ServiceTier: "auto", SerialCalls: true}}, `8192`,
			"claude-sonnet-4-5: seed is left out, as the model takes none\nclaude-sonnet-4-5: verbosity is left out, as the model takes none\n"},
		{"one tool", "", llm.Request{Tools: tools, ToolChoice: "required", ToolName: "now"}, `8192,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"tool","name":"now"}`, ""},
		{"some tool, thinking", "", llm.Request{Tools: tools, ToolChoice: "required", Settings: llm.Settings{ReasoningEffort: "low"}}, `10240,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}],"thinking":{"type":"enabled","budget_tokens":2048}`,
			"claude-sonnet-4-5: the model decides itself whether to call a tool: it cannot be forced to while it thinks\n"},
		{"some tool, newest", "claude-fable-5-1", llm.Request{Tools: tools, ToolChoice: "required"}, `32768,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}],"thinking":{"type":"adaptive","display":"summarized"}`,
			"claude-fable-5-1: the model decides itself whether to call a tool: it cannot be forced to while it thinks\n"},
		{"no tools, no choice", "", llm.Request{ToolChoice: "none"}, `8192`, ""},
		{"a proxy's own name", "my-model", llm.Request{Settings: llm.Settings{Temperature: ptr(0.5), MaxTokens: 500000}}, `500000,"temperature":0.5`, ""},
		{"a proxy's own Claude", "claude-fast", llm.Request{Settings: llm.Settings{Temperature: ptr(0.5)}}, `4096,"temperature":0.5`, ""},
		{"a proxy's spelling", "anthropic/claude-sonnet-4.5", llm.Request{}, `8192`, ""},
		{"the year is no version", "claude-sonnet-4-20250514", llm.Request{}, `8192`, ""},
	}
	// What a conversation with calls declares; see TestPastCallsWithoutTools.
	const past = `,"tools":[{"name":"search","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"}`
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.req.Messages == nil {
				tt.req.Messages = []llm.Message{user("hi")}
			}
			tt.req.Settings.PromptCache = "off"
			got, warnings := sentBy(t, anthropic.Options{Model: tt.model}, &tt.req)
			got = strings.Replace(got, past, "", 1)
			_, got, _ = strings.Cut(strings.TrimSuffix(got, `,"stream":true}`), `"max_tokens":`)
			head, rest, _ := strings.Cut(got, `,"messages":[`)
			_, tail, _ := strings.Cut(rest, `}]}]`)
			if got = head + tail; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if d := cmp.Diff(tt.warnings, warnings); d != "" {
				t.Error(d)
			}
		})
	}
}
