package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

const good = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`

// sentBy is the body that a model sends for the request, and what it warns of.
func sentBy(t testing.TB, o anthropic.Options, req *llm.Request) (body, warnings string) {
	t.Helper()
	body, warned := wiretest.Sent(t, req, good, func(c *http.Client) llm.Model {
		o.HTTPClient = c
		return model(t, o)
	})
	for _, text := range warned {
		warnings += strings.TrimPrefix(text, "anthropic:") + "\n"
	}
	return body, warnings
}

func ptr(f float64) *float64 { return &f }

func user(text string, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.User, Content: text, Parts: parts}
}

func calls(text string, ids ...string) llm.Message {
	m := llm.Message{Role: llm.Assistant, Content: text}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: id, Name: "search", Arguments: `{"q":1}`})
	}
	return m
}

func result(id, text string, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.ToolRole, ToolCallID: id, Name: "search", Content: text, Parts: parts}
}

// TestConversation: whatever order messages come in, the wire gets turns that
// alternate, and every call its result.
func TestConversation(t *testing.T) {
	system := func(text string) llm.Message { return llm.Message{Role: llm.System, Content: text} }
	thought := func(id, text, signature string) llm.Reasoning {
		return llm.Reasoning{Provider: "anthropic", ID: id, Text: text, Signature: signature}
	}
	const (
		useA = `{"type":"tool_use","id":"a","name":"search","input":{"q":1}}`
		useB = `{"type":"tool_use","id":"b","name":"search","input":{"q":1}}`
		hi   = `{"role":"user","content":[{"type":"text","text":"hi"}]}`
	)
	tests := []struct {
		name     string
		messages []llm.Message
		want     string // the system blocks, a space, the messages
	}{
		{"plain", []llm.Message{user("Be \"brief\".\n<b>&\t\x01\xff\u2028")}, `[{"role":"user","content":[{"type":"text","text":"Be \"brief\".\n<b>&\t\u0001\ufffd` + "\u2028" + `"}]}]`},
		{"system messages", []llm.Message{system("One."), system(" "), system("Two."), user("hi"), system("Three.")},
			`,"system":[{"type":"text","text":"One."},{"type":"text","text":"Two."}],` +
				`[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"[System] Three."}]}]`},
		{"a system message between an answer and the first question", []llm.Message{calls("Welcome."), system("Two."), user("hi")},
			`,"system":[{"type":"text","text":"Two."}],[{"role":"user","content":[{"type":"text","text":"[System] The conversation began earlier."}]},` +
				`{"role":"assistant","content":[{"type":"text","text":"Welcome."}]},` + hi + `]`},
		{"parallel calls, results in another order, text between", []llm.Message{user("hi"), calls("Look.", "a", "b"), user("wait"), result("b", "B"), result("a", "A"), user("more")},
			`[` + hi + `,{"role":"assistant","content":[{"type":"text","text":"Look."},` + useA + `,` + useB + `]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"},{"type":"tool_result","tool_use_id":"b","content":"B"},{"type":"text","text":"wait"},{"type":"text","text":"more"}]}]`},
		{"missing, orphaned and repeated results", []llm.Message{user("hi"), result("z", "Z"), calls("", "a", "b"), result("b", ""), result("b", "B2")},
			`[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"[Result of search] Z"}]},{"role":"assistant","content":[` + useA + `,` + useB + `]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"[no result: the call was interrupted]"},{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"[Result of search] B2"}]}]`},
		{"ids twice, ids of another kind, arguments that are none", []llm.Message{user("hi"), calls("", "a"), result("a", "1"),
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "search", Arguments: `{"q":1}`}, {ID: "x:y", Name: "a b", Arguments: `{"x`}}}, result("a", "2"), result("x:y", "3")},
			`[` + hi + `,{"role":"assistant","content":[` + useA + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_p8_2","name":"search","input":{"q":1}},{"type":"tool_use","id":"toolu_p8_3","name":"a_b","input":{"not_an_object":"{\"x"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_p8_2","content":"2"},{"type":"tool_result","tool_use_id":"toolu_p8_3","content":"3"}]}]`},
		{"answers in a row, empty ones, the last word", []llm.Message{user(""), calls("One."), calls(""), calls("Two.")},
			`[{"role":"user","content":[{"type":"text","text":"(empty)"}]},{"role":"assistant","content":[{"type":"text","text":"One."},{"type":"text","text":"Two."}]},` +
				`{"role":"user","content":[{"type":"text","text":"Continue."}]}]`},
		{"nothing", nil, `[{"role":"user","content":[{"type":"text","text":"Continue."}]}]`},
		{"thoughts where they stood", []llm.Message{user("hi"), {Role: llm.Assistant, Content: "Né. ", ToolCalls: calls("", "a", "b").ToolCalls, Reasoning: []llm.Reasoning{
			thought("0.0.claude-sonnet-4-5", "First.", "s1"), {Provider: "anthropic", ID: "4.0.claude-sonnet-4-5", Signature: "hidden", Redacted: true}, thought("5.1.claude-sonnet-4-5", "", "s2"),
		}}, result("a", "A"), result("b", "B")},
			`[` + hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"First.","signature":"s1"},{"type":"text","text":"Né."},{"type":"redacted_thinking","data":"hidden"},` +
				useA + `,{"type":"thinking","thinking":"","signature":"s2"},` + useB + `]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"},{"type":"tool_result","tool_use_id":"b","content":"B"}]}]`},
		{"thoughts of others stay away", []llm.Message{user("hi"), {Role: llm.Assistant, Content: "Yes.", Reasoning: []llm.Reasoning{
			thought("0.0.claude-opus-5-5", "Other model.", "s1"), {Provider: "gemini", Signature: "g"}, thought("", "No proof.", ""), thought("x", "No place.", "s2"), thought("2.0.claude-sonnet-4-5", "In a letter.", "s3"),
		}}, user("hi")},
			`[` + hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"No place.","signature":"s2"},{"type":"text","text":"Ye"},{"type":"thinking","thinking":"In a letter.","signature":"s3"},{"type":"text","text":"s."}]},` + hi + `]`},
		{"pictures and documents", []llm.Message{user("look",
			llm.Part{Kind: llm.Image, MediaType: "image/PNG", Data: []byte("png")}, llm.Part{Kind: llm.Image, URL: "https://x/y.jpg"}, llm.Part{Kind: llm.Image, MediaType: "image/tiff", Data: []byte("x"), Name: "scan"},
			llm.Part{Kind: llm.Document, MediaType: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"}, llm.Part{Kind: llm.Document, URL: "https://x/y.pdf"},
			llm.Part{Kind: llm.Document, MediaType: "text/markdown; charset=utf-8", Data: []byte("# A"), Name: "a.md"}, llm.Part{Kind: llm.Document, MediaType: "text/plain", URL: "https://x/y.txt"},
			llm.Part{Kind: llm.Document, MediaType: "application/zip", Data: []byte("z")}, llm.Part{Kind: llm.Document, MediaType: "text/plain", Data: []byte(" ")})},
			`[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},{"type":"image","source":{"type":"url","url":"https://x/y.jpg"}},` +
				`{"type":"text","text":"[image scan (image/tiff) omitted: this model cannot read it]"},` +
				`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"cGRm"},"title":"a.pdf"},{"type":"document","source":{"type":"url","url":"https://x/y.pdf"}},` +
				`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"# A"},"title":"a.md"},{"type":"text","text":"[document (text/plain) omitted: this model cannot read it]"},` +
				`{"type":"text","text":"[document (application/zip) omitted: this model cannot read it]"},{"type":"text","text":"[document (text/plain) omitted: this model cannot read it]"}]}]`},
		{"pictures alone, and of a tool", []llm.Message{user("", llm.Part{Kind: llm.Image, URL: "https://x"}), calls("", "a"), result("a", "", llm.Part{Kind: llm.Image, URL: "https://y"}, llm.Part{Kind: llm.Image, URL: "https://z"}), calls("", "b"), result("b", "B", llm.Part{Kind: llm.Image, URL: "https://z"})},
			`[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]},{"role":"assistant","content":[` + useA + `]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"url","url":"https://y"}},{"type":"image","source":{"type":"url","url":"https://z"}}]}]},` +
				`{"role":"assistant","content":[` + useB + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"B"},{"type":"image","source":{"type":"url","url":"https://z"}}]}]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, _ := json.Marshal(tt.messages)
			got, _ := sentBy(t, anthropic.Options{}, &llm.Request{Messages: tt.messages, Tools: []llm.ToolSpec{{Name: "now"}}, Settings: llm.Settings{PromptCache: "off"}})
			got = strings.TrimPrefix(got, `{"model":"claude-sonnet-4-5","max_tokens":8192,"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}]`)
			got = strings.Replace(strings.TrimSuffix(got, `,"stream":true}`), `,"messages":`, ",", 1)
			if want := strings.TrimPrefix(tt.want, ","); strings.TrimPrefix(got, ",") != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if after, _ := json.Marshal(tt.messages); string(after) != string(before) {
				t.Error("the request was changed")
			}
		})
	}
}

// FuzzRequest: whatever is in a conversation, the body is JSON, its turns
// alternate, and every call has its result.
func FuzzRequest(f *testing.F) {
	f.Add("hi \"there\"\x00\xff\u2028", `{"a":1}`, "1.0.m", "usar")
	f.Add("", "garbage", "-1.-1.m", "atsurtat")
	f.Add(" ", `[{"a":1}]`, "99999999999.2.m", "aattuu")
	f.Fuzz(func(t *testing.T, text, arguments, place, order string) {
		req := &llm.Request{Settings: llm.Settings{ReasoningEffort: "low"}, Tools: []llm.ToolSpec{{Name: "x", Description: text}}}
		for i, c := range order[:min(len(order), 40)] {
			m := llm.Message{Role: llm.User, Content: text, Parts: []llm.Part{{Kind: llm.Document, MediaType: "text/plain", Data: []byte(text), Name: text}}}
			switch c % 4 {
			case 0:
				m = llm.Message{Role: llm.System, Content: text}
			case 1:
				m = llm.Message{Role: llm.Assistant, Content: text, Reasoning: []llm.Reasoning{{Provider: "anthropic", ID: place, Text: text, Signature: "s"}},
					ToolCalls: []llm.ToolCall{{ID: text, Name: text, Arguments: arguments}, {ID: "c" + text, Name: "x"}}}
			case 2:
				m = llm.Message{Role: llm.ToolRole, ToolCallID: text, Name: text, Content: fmt.Sprint(i)}
			}
			req.Messages = append(req.Messages, m)
		}
		body, _ := sentBy(t, anthropic.Options{Model: "m"}, req)
		checkTurns(t, body)
	})
}

// checkTurns holds a body to the rules of the wire.
func checkTurns(t *testing.T, body string) {
	t.Helper()
	var got struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, ID, Text string
				Result         string          `json:"tool_use_id"`
				Input          json.RawMessage `json:"input"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	ids, open := map[string]bool{}, []string(nil)
	for i, m := range got.Messages {
		if want := [...]string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			t.Fatalf("message %d is %s's with %d blocks: %s", i, m.Role, len(m.Content), body)
		}
		for n, b := range m.Content {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) == "":
				t.Errorf("an empty text: %s", body)
			case b.Type == "tool_use":
				if ids[b.ID] || llm.SafeName(b.ID) != b.ID || b.Input[0] != '{' {
					t.Errorf("a bad call %q %s", b.ID, b.Input)
				}
				ids[b.ID] = true
				open = append(open, b.ID)
			case b.Type == "tool_result" && (n >= len(open) || open[n] != b.Result):
				t.Errorf("result %d is of %q, want one of %q", n, b.Result, open)
			}
		}
		if m.Role == "user" {
			if len(open) > len(m.Content) {
				t.Errorf("calls without results: %s", body)
			}
			open = nil
		}
	}
	if len(got.Messages)%2 == 0 {
		t.Errorf("the last word is not the user's: %s", body)
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		o    anthropic.Options
		want string // the hint
	}{
		{anthropic.Options{}, `name the model too, as in "anthropic:claude-sonnet-5-5"`},
		{anthropic.Options{Model: "x"}, "anthropic:x needs an API key; set P8_ANTHROPIC_API_KEY or ANTHROPIC_API_KEY"},
		{anthropic.Options{Model: "x", BaseURL: "localhost:1"}, "the base URL of anthropic is not an http or https URL such as https://api.anthropic.com"},
		{anthropic.Options{Model: "x", APIKey: "a b"}, "the API key of anthropic holds characters that no key has; look at P8_ANTHROPIC_API_KEY or ANTHROPIC_API_KEY"},
		{anthropic.Options{Model: "x", BaseURL: "http://localhost:1"}, ""},
		{anthropic.Options{Model: "x", AuthToken: "t"}, ""},
	}
	for _, tt := range tests {
		_, err := anthropic.New(tt.o)
		wiretest.Hint(t, tt.o, err, llm.NoModel, tt.want)
	}
	if c := model(t, anthropic.Options{}).Capabilities(); c.NativeOutput || !c.Images || !c.Documents {
		t.Errorf("capabilities %+v", c)
	}
}

// The wire refuses calls in a conversation that declares no tools.
func TestPastCallsWithoutTools(t *testing.T) {
	got, _ := sentBy(t, anthropic.Options{}, &llm.Request{
		Messages: []llm.Message{user("hi"), calls("", "a"), result("a", "A"), calls("", "b"), result("b", "B"), user("and?")},
		Settings: llm.Settings{PromptCache: "off"},
	})
	want := `,"tools":[{"name":"search","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"none"},"messages"`
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestProviders(t *testing.T) {
	env := wiretest.Env{}
	var asked string
	providers := anthropic.Providers(llm.ProvidersOptions{
		Getenv: env.Get,
		HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.String() + " " + r.Header.Get("X-Api-Key") + "|" + r.Header.Get("Authorization") + " " + r.Header.Get("Anthropic-Version")
			return wiretest.Answer(200, good), nil
		}),
	})
	tests := []struct{ env, want, endpoint string }{
		{"ANTHROPIC_API_KEY=a", "https://api.anthropic.com/v1/messages a|", "https://api.anthropic.com"},
		{"LLM__ANTHROPIC_API_KEY=l", "https://api.anthropic.com/v1/messages l|", "https://api.anthropic.com"},
		{"P8_ANTHROPIC_API_KEY=p ANTHROPIC_API_KEY=a ANTHROPIC_AUTH_TOKEN=t", "https://api.anthropic.com/v1/messages p|", "https://api.anthropic.com"},
		{"ANTHROPIC_AUTH_TOKEN=t ANTHROPIC_BASE_URL=http://localhost:1/", "http://localhost:1/v1/messages |Bearer t", "http://localhost:1"},
		{"P8_ANTHROPIC_BASE_URL=http://p8:2/x/v1/ ANTHROPIC_BASE_URL=http://y", "http://p8:2/x/v1/messages |", "http://p8:2"},
	}
	for _, tt := range tests {
		env.Set(tt.env)
		m, err := providers["anthropic"]("m")
		if err != nil {
			t.Errorf("%s: %v", tt.env, err)
			continue
		}
		if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil {
			t.Fatal(err)
		}
		if endpoint := m.(interface{ Endpoint() string }).Endpoint(); asked != tt.want+" 2023-06-01" || m.Name() != "anthropic:m" || endpoint != tt.endpoint {
			t.Errorf("%s: %s at %s asked %s", tt.env, m.Name(), endpoint, asked)
		}
	}
}

func ExampleProviders() {
	env := map[string]string{"ANTHROPIC_API_KEY": "sk-..."}
	models := llm.NewRegistry(llm.RegistryOptions{
		Providers: anthropic.Providers(llm.ProvidersOptions{Getenv: func(name string) string { return env[name] }}),
	})
	model, err := models.Resolve("claude-sonnet-5-5")
	fmt.Println(model.Name(), err)
	// Output: anthropic:claude-sonnet-5-5 <nil>
}
