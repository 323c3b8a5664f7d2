package gemini_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/gemini"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

// sentBy is the body that a model sends for the request, and the warnings.
func sentBy(t testing.TB, o gemini.Options, req *llm.Request) (string, []string) {
	t.Helper()
	return wiretest.Sent(t, req, good, func(c *http.Client) llm.Model {
		o.HTTPClient = c
		return model(t, o)
	})
}

func user(text string) llm.Message { return llm.Message{Role: llm.User, Content: text} }

func TestConversation(t *testing.T) {
	call := func(id, name, arguments string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: name, Arguments: arguments}
	}
	result := func(id, content string) llm.Message {
		return llm.Message{Role: llm.ToolRole, ToolCallID: id, Name: "look", Content: content}
	}
	const begin = `{"role":"user","parts":[{"text":"[Begin.]"}]}`
	tests := []struct {
		name, model string
		messages    []llm.Message
		want        string
	}{
		{"plain", "", []llm.Message{user("hi \"<b>&\n\xff")}, `{"contents":[{"role":"user","parts":[{"text":"hi \"<b>&\n` + `\ufffd` + `"}]}]}`},
		{"system first, in the middle, and consecutive turns", "", []llm.Message{
			{Role: llm.System, Content: "Be brief."}, {Role: llm.System}, {Role: llm.System, Content: "Be kind."},
			user("a"), user("b"), {Role: llm.System, Content: "Now be long."},
			{Role: llm.Assistant, Content: "c"}, {Role: llm.Assistant, Content: "d"}, user(""), {Role: llm.Assistant},
		}, `{"systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Be kind."}]},"contents":[` +
			`{"role":"user","parts":[{"text":"a"},{"text":"b"},{"text":"[System] Now be long."}]},{"role":"model","parts":[{"text":"c"},{"text":"d"}]}]}`},
		{"nothing but system", "", []llm.Message{{Role: llm.System, Content: "x"}}, `{"systemInstruction":{"parts":[{"text":"x"}]},"contents":[` + begin + `]}`},
		{"the model begins", "", []llm.Message{{Role: llm.Assistant, Content: "Hello?"}, user("hi")},
			`{"contents":[` + begin + `,{"role":"model","parts":[{"text":"Hello?"}]},{"role":"user","parts":[{"text":"hi"}]}]}`},
		{"gemma has no system instruction", "gemma-3-27b-it", []llm.Message{{Role: llm.System, Content: "x"}, user("hi")},
			`{"contents":[{"role":"user","parts":[{"text":"[System] x"},{"text":"hi"}]}]}`},
		{"results in the order of the calls, each an object", "", []llm.Message{user("hi"),
			{Role: llm.Assistant, Content: "Let me see.", ToolCalls: []llm.ToolCall{call("1", "look", ` {"q":1}`), call("2", "look", ""), call("3", "a b", `{"x`), call("4", "look", "[]"), call("5", "look", "{}")}},
			result("3", `[1,2]`), result("2", "plain \"text\""), {Role: llm.System, Content: "Hurry."}, result("1", ` {"found": true} `), result("1", "again"), result("4", ""),
			{Role: llm.Assistant, Content: "ok"},
		}, `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"Let me see."},` +
			`{"functionCall":{"id":"1","name":"look","args": {"q":1}}},{"functionCall":{"id":"2","name":"look","args":{}}},` +
			`{"functionCall":{"id":"3","name":"a_b","args":{"not_an_object":"{\"x"}}},{"functionCall":{"id":"4","name":"look","args":{"not_an_object":"[]"}}},{"functionCall":{"id":"5","name":"look","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"look","response":{"found": true}}},{"functionResponse":{"id":"2","name":"look","response":{"result":"plain \"text\""}}},` +
			`{"functionResponse":{"id":"3","name":"a_b","response":{"result":[1,2]}}},{"functionResponse":{"id":"4","name":"look","response":{"result":""}}},` +
			`{"functionResponse":{"id":"5","name":"look","response":{"error":"this call has no result"}}},` +
			`{"text":"[System] Hurry."},{"text":"[Result of the tool look] again"}]},{"role":"model","parts":[{"text":"ok"}]}]}`},
		{"a schema as a result", "", []llm.Message{user("hi"), {Role: llm.Assistant, ToolCalls: []llm.ToolCall{call("1", "look", "{}")}}, result("1", `{"a":{"$ref":"#/$defs/b"}}`)},
			`{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"look","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"look","response":{"result":"{\"a\":{\"$ref\":\"#/$defs/b\"}}"}}}]}]}`},
		{"a result without a call", "", []llm.Message{result("9", "x"), user("hi")},
			`{"contents":[{"role":"user","parts":[{"text":"[Result of the tool look] x"},{"text":"hi"}]}]}`},
		{"signatures go back where they came from", "gemini-3-flash-preview", []llm.Message{user("hi"),
			{Role: llm.Assistant, Content: "Hm.", Reasoning: []llm.Reasoning{
				{Provider: "anthropic", Text: "no", Signature: "no"}, {Provider: "gemini", Text: "a summary"},
				{Provider: "gemini", Text: "signed", Signature: "S0"}, {Provider: "gemini", Signature: "S1"},
			}, ToolCalls: []llm.ToolCall{{ID: "1", Name: "look", Signature: "S2"}, {ID: "2", Name: "look"}}},
			result("1", "{}"), result("2", "{}"),
			{Role: llm.Assistant, Reasoning: []llm.Reasoning{{Provider: "gemini", Signature: "S3"}}},
		}, `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"signed","thought":true,"thoughtSignature":"S0"},{"text":"Hm.","thoughtSignature":"S1"},` +
			`{"functionCall":{"id":"1","name":"look","args":{}},"thoughtSignature":"S2"},{"functionCall":{"id":"2","name":"look","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"look","response":{}}},{"functionResponse":{"id":"2","name":"look","response":{}}}]},` +
			`{"role":"model","parts":[{"text":"","thoughtSignature":"S3"}]}]}`},
		{"calls of another model", "gemini-3-flash-preview", []llm.Message{user("hi"),
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{call("1", "look", "{}"), call("2", "look", "{}")}}, result("1", "1"), result("2", "null"),
		}, `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[` +
			`{"functionCall":{"id":"1","name":"look","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"2","name":"look","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"look","response":{"result":1}}},{"functionResponse":{"id":"2","name":"look","response":{"result":null}}}]}]}`},
		{"images and documents", "", []llm.Message{{Role: llm.User, Content: "look", Parts: []llm.Part{
			{Kind: llm.Image, MediaType: "image/png", Data: []byte("png")}, {Kind: llm.Document, Data: []byte("%PDF-1.7"), Name: "a.pdf"},
			{Kind: llm.Image, URL: "https://x/a.JPG?v=1"}, {Kind: llm.Image, URL: "https://x/a"}, {Kind: llm.Document, MediaType: "text/markdown; charset=utf-8", Data: []byte("# a")},
			{Kind: llm.Image, MediaType: "image/gif", Data: []byte("GIF89a"), Name: "a.gif"}, {Kind: llm.Document, MediaType: "application/zip", Data: []byte("PK")}, {Kind: llm.Image},
		}}}, `{"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"cG5n"}},{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjc="}},` +
			`{"fileData":{"mimeType":"image/jpeg","fileUri":"https://x/a.JPG?v=1"}},{"fileData":{"fileUri":"https://x/a"}},{"inlineData":{"mimeType":"text/markdown","data":"IyBh"}},` +
			`{"text":"[image a.gif (image/gif) omitted: this model cannot read it]"},{"text":"[document (application/zip) omitted: this model cannot read it]"},{"text":"[image omitted: this model cannot read it]"}]}]}`},
		{"images of a result", "", []llm.Message{user("hi"), {Role: llm.Assistant, ToolCalls: []llm.ToolCall{call("1", "draw", "{}"), call("2", "look", "{}")}},
			{Role: llm.ToolRole, ToolCallID: "1", Content: "drawn", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/webp", Data: []byte("x")}}}, result("2", "{}"),
		}, `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"draw","args":{}}},{"functionCall":{"id":"2","name":"look","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"draw","response":{"result":"drawn"}}},{"functionResponse":{"id":"2","name":"look","response":{}}},` +
			`{"text":"[To the result of the tool draw belongs:]"},{"inlineData":{"mimeType":"image/webp","data":"eA=="}}]}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := sentBy(t, gemini.Options{Model: tt.model}, &llm.Request{Messages: tt.messages}); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	zero, half := 0.0, 0.5
	schema := json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"const":1}}}`)
	cleaned := `{"type":"object","properties":{"b":{"type":"string"},"a":{"enum":[1]}}}`
	tool := []llm.ToolSpec{{Name: "search", Description: "Searches.", Parameters: schema}, {Name: "now"}}
	const head = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]`
	tools := `,"tools":[{"functionDeclarations":[{"name":"search","description":"Searches.","parametersJsonSchema":` + cleaned + `},{"name":"now"}]}]`
	effort := func(e string) llm.Request { return llm.Request{Settings: llm.Settings{ReasoningEffort: e}} }
	thinking := func(s string) string { return head + `,"generationConfig":{"thinkingConfig":{` + s + `}}}` }
	tests := []struct {
		name, model string
		req         llm.Request
		want        string
		warning     string // a part of it
	}{
		{name: "tools", req: llm.Request{Tools: tool, CacheKey: "a", Settings: llm.Settings{PromptCache: "1h"}}, want: head + tools + `}`},
		{name: "a call is required", req: llm.Request{Tools: tool, ToolChoice: "required"}, want: head + tools + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`},
		{name: "seed and penalties", req: llm.Request{Settings: llm.Settings{Seed: new(int64), FrequencyPenalty: new(float64), PresencePenalty: new(float64)}}, want: head + `,"generationConfig":{"seed":0,"frequencyPenalty":0,"presencePenalty":0}}`},
		{name: "one call is required", req: llm.Request{Tools: tool, ToolChoice: "required", ToolName: "now"}, want: head + tools + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["now"]}}}`},
		{name: "no call is allowed", req: llm.Request{Tools: tool, ToolChoice: "none"}, want: head + tools + `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`},
		{name: "no tools, no choice", req: llm.Request{ToolChoice: "none"}, want: head + `}`},
		{name: "zeros included", req: llm.Request{Settings: llm.Settings{Temperature: &zero, TopP: &half, MaxTokens: 100, Stop: []string{"END", "\n"}}},
			want: head + `,"generationConfig":{"temperature":0,"topP":0.5,"maxOutputTokens":100,"stopSequences":["END","\n"]}}`},
		{name: "six stop sequences", req: llm.Request{Settings: llm.Settings{Stop: strings.Split("abcdef", "")}},
			want: head + `,"generationConfig":{"stopSequences":["a","b","c","d","e"]}}`, warning: "takes 5 stop sequences"},
		{name: "a default limit leaves room for thought", req: llm.Request{Settings: llm.Settings{MaxTokens: 4000, DefaultMaxTokens: true}}, want: head + `,"generationConfig":{"maxOutputTokens":32000}}`},
		{name: "a default temperature", req: llm.Request{Settings: llm.Settings{Temperature: &zero, DefaultTemperature: true}}, want: head + `,"generationConfig":{"temperature":0}}`},
		{name: "the third generation has its own", model: "gemini-3-flash-preview", req: llm.Request{Settings: llm.Settings{Temperature: &zero, DefaultTemperature: true}}, want: head + `}`},
		{name: "an answer of a schema", req: llm.Request{Output: &llm.Output{Name: "x", Schema: schema}},
			want: head + `,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + cleaned + `}}`},
		{name: "beside tools", model: "gemini-3-pro-preview", req: llm.Request{Tools: tool, Output: &llm.Output{Name: "x", Schema: schema}},
			want: head + tools + `,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + cleaned + `}}`},
		{name: "beside tools in words", req: llm.Request{Tools: tool[1:], Output: &llm.Output{Name: "x", Schema: json.RawMessage(`{"type":"object"}`)}},
			want: `{"systemInstruction":{"parts":[{"text":"Give your final answer as JSON alone, which follows this JSON Schema:\n{\"type\":\"object\"}"}]},` + head[1:] + `,"tools":[{"functionDeclarations":[{"name":"now"}]}]}`},

		{name: "no thought", req: effort("none"), want: thinking(`"thinkingBudget":0`)},
		{name: "a little", req: effort("low"), want: thinking(`"includeThoughts":true,"thinkingBudget":1024`)},
		{name: "some", req: effort("medium"), want: thinking(`"includeThoughts":true,"thinkingBudget":8192`)},
		{name: "much", model: "gemini-2.5-pro", req: effort("high"), want: thinking(`"includeThoughts":true,"thinkingBudget":24576`)},
		{name: "a Pro cannot stop", model: "gemini-2.5-pro", req: effort("none"), want: thinking(`"includeThoughts":true,"thinkingBudget":128`), warning: "cannot stop thinking"},
		{name: "minimal by level", model: "gemini-3-flash-preview", req: effort("minimal"), want: thinking(`"includeThoughts":true,"thinkingLevel":"minimal"`)},
		{name: "none by level", model: "gemini-3-flash-preview", req: effort("none"), want: thinking(`"includeThoughts":true,"thinkingLevel":"minimal"`), warning: "cannot stop thinking"},
		{name: "minimal of a Pro", model: "gemini-3.1-pro-preview", req: effort("minimal"), want: thinking(`"includeThoughts":true,"thinkingLevel":"low"`)},
		{name: "medium of a Pro", model: "gemini-3.1-pro-preview", req: effort("medium"), want: thinking(`"includeThoughts":true,"thinkingLevel":"medium"`)},
		{name: "medium of the first Pro", model: "gemini-3-pro-preview", req: effort("medium"), want: thinking(`"includeThoughts":true,"thinkingLevel":"high"`)},
		{name: "a model that does not think", model: "gemini-2.0-flash", req: effort("high"), want: head + `}`, warning: "does not take reasoning_effort"},
		{name: "nor was asked to", model: "gemini-2.0-flash", req: effort("none"), want: head + `}`},
		{name: "an unknown effort", req: effort("enormous"), want: head + `}`, warning: "does not take reasoning_effort"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Messages = []llm.Message{user("hi")}
			got, warnings := sentBy(t, gemini.Options{Model: tt.model}, &tt.req)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if all := strings.Join(warnings, "\n"); !strings.Contains(all, tt.warning) || (all == "") != (tt.warning == "") {
				t.Errorf("got the warnings %q, want %q", warnings, tt.warning)
			}
		})
	}
}

// FuzzRequest: whatever is in a conversation, the body is JSON, roles alternate
// and begin with the user, and every call has its result right behind.
func FuzzRequest(f *testing.F) {
	f.Add("hi \"there\"\x00\xff\u2028", `{"a":1}`, "uact")
	f.Add("", "garbage", "actt")
	f.Add("x", ` [1]`, "ssatauts")
	f.Add("y", "{\"\xff\":\"\"}", "ttca")
	f.Fuzz(func(t *testing.T, text, arguments, order string) {
		var messages []llm.Message
		for i := range min(len(order), 12) {
			m := llm.Message{Role: llm.User, Content: text}
			switch order[i] {
			case 's':
				m.Role = llm.System
			case 'a':
				m.Role = llm.Assistant
			case 'c':
				m.Role, m.ToolCalls = llm.Assistant, []llm.ToolCall{{ID: "1", Name: text, Arguments: arguments}, {ID: text, Name: "x", Arguments: arguments, Signature: text}}
			case 't':
				m.Role, m.ToolCallID, m.Content = llm.ToolRole, "1", arguments
			case 'p':
				m.Parts = []llm.Part{{Kind: llm.Image, URL: text}, {Kind: llm.Document, Data: []byte(text), MediaType: text}}
			}
			messages = append(messages, m)
		}
		body, _ := sentBy(t, gemini.Options{Model: "gemini-3-flash"}, &llm.Request{Messages: messages, Tools: []llm.ToolSpec{{Name: "x", Parameters: json.RawMessage(arguments)}}})
		var got struct {
			Contents []struct {
				Role  string
				Parts []struct {
					FunctionCall, FunctionResponse *struct {
						Name           string
						Args, Response map[string]any
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		var open []string
		for i, c := range got.Contents {
			if want := []string{"user", "model"}[i%2]; c.Role != want || len(c.Parts) == 0 {
				t.Fatalf("content %d is of %s with %d parts: %s", i, c.Role, len(c.Parts), body)
			}
			for _, p := range c.Parts {
				switch {
				case p.FunctionCall != nil:
					open = append(open, p.FunctionCall.Name)
				case p.FunctionResponse != nil:
					if len(open) == 0 || open[0] != p.FunctionResponse.Name || p.FunctionResponse.Response == nil {
						t.Fatalf("a result out of order: %s", body)
					}
					open = open[1:]
				}
			}
			if c.Role == "user" && len(open) > 0 {
				t.Fatalf("calls without results: %s", body)
			}
		}
		if len(got.Contents) == 0 {
			t.Fatal("no contents")
		}
	})
}
