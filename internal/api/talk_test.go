package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// asking is a fake whose run asks the user twice.
func asking() *fake {
	f := newFake()
	f.requests = []store.RunRequest{
		{ID: "q1", RunID: f.run.ID, SessionID: "s1", Kind: event.RequestApproval, Status: store.RequestOpen, ToolName: "send", Message: "Send it?", CreatedAt: created},
		{ID: "q2", RunID: f.run.ID, SessionID: "s1", Kind: event.RequestElicitation, Status: store.RequestOpen, Message: "Which?", CreatedAt: created,
			Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
	}
	return f
}

// talked sends a body to a chat that ends at once.
func talked(t *testing.T, f *fake, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	f.say("Hello.", &event.DoneData{Reason: event.ReasonStop})
	return newTalk(t, f).do("POST", path, body, headers...)
}

// TestTalkTools: the tools of the client in every form.
func TestTalkTools(t *testing.T) {
	pick := llm.ToolSpec{Name: "pick", Description: "Picks.", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
	const about = `"description":"Picks.",`
	schema := string(pick.Parameters)
	for name, tools := range map[string]string{
		"AG-UI's list":            `[{"name":"pick",` + about + `"parameters":` + schema + `}]`,
		"OpenAI's list":           `[{"type":"function","function":{"name":"pick",` + about + `"parameters":` + schema + `}}]`,
		"an object":               `{"pick":{` + about + `"parameters":` + schema + `}}`,
		"an object of the AI SDK": `{"pick":{"type":"function",` + about + `"inputSchema":{"jsonSchema":` + schema + `}}}`,
		"another object":          `{"pick":{"name":"other",` + about + `"inputSchema":` + schema + `}}`,
	} {
		f := newFake()
		if w := talked(t, f, "/api/chat", `{"id":"s","trigger":"submit-message","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"x"}]}],"tools":`+tools+`}`); w.Code != http.StatusOK {
			t.Errorf("%s: %s", name, w.Body)
			continue
		}
		if diff := cmp.Diff([]llm.ToolSpec{pick}, f.req.ClientTools); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, wrong := range []string{`"pick"`, `{"":{}}`, `{"pick":[]}`, `[[]]`, `{"pick":{"parameters":7}}`} {
		w := talked(t, newFake(), "/api/chat", `{"id":"s","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"x"}]}],"tools":`+wrong+`}`)
		if w.Code/100 != 4 || !strings.Contains(w.Body.String(), "tools") {
			t.Errorf("%s: %d %s", wrong, w.Code, w.Body)
		}
	}
}

// TestTalkRequests: the request made of a body and its headers.
func TestTalkRequests(t *testing.T) {
	png := "data:image/png;base64," + base(pngData)
	user := llm.Message{Role: llm.User, Content: "one"}
	called := llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "pick", Arguments: `{"n":1}`}}}
	result := llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Name: "pick", Content: "red"}
	for _, c := range []struct {
		name, path, body string
		headers          []string
		want             chat.Request
		session          string
	}{
		{
			name: "AG-UI, only a message", path: "/chat/s%2F1", session: "s/1",
			body: `{"messages":[{"id":"1","role":"user","content":"one"}]}`,
			want: chat.Request{Input: "one", MessageID: "1", Protocol: "ag-ui"},
		},
		{
			name: "AG-UI, everything", path: "/v1/chat/from-path?delay_ms=0", session: "from-path",
			headers: []string{"X-Added-Instruction: Be brief.", "X-Session-Name: Tea", "X-Session-Type: support", "X-If-Busy: queue"},
			body: `{"threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","state":{"cart":[1]},
				"messages":[{"id":"0","role":"developer","content":"Sing."},{"id":"1","role":"user","content":"one"},
					{"id":"2","role":"assistant","content":"two"},{"id":"3","role":"reasoning","content":"hm"},{"id":"4","role":"activity","activityType":"x","content":{}},
					{"id":"5","role":"user","content":[{"type":"text","text":"three"},{"type":"image","source":{"type":"data","value":"` + base(pngData) + `","mimeType":"image/png"}}]}],
				"tools":[{"name":"pick","description":"Picks.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}],
				"context":[{"description":"The page","value":"/tea"}],"forwardedProps":{"options":{"seed":"7","children":true},"model":"test:other"},"unknown":[]}`,
			want: chat.Request{
				Thread: "t", Input: "three", MessageID: "5", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/png", Data: []byte(pngData)}}, Protocol: "ag-ui",
				History:     []llm.Message{user, {Role: llm.Assistant, Content: "two"}},
				Instruction: "Sing.\n\nThe page: /tea\n\nBe brief.", State: json.RawMessage(`{"cart":[1]}`),
				SessionName: "Tea", SessionMode: "support", Busy: chat.BusyQueue, Model: "test:other",
				ClientTools: []llm.ToolSpec{{Name: "pick", Description: "Picks.", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}},
				Options:     map[string]string{"seed": "7", "children": "true", "delay_ms": "0"},
			},
		},
		{
			name: "AG-UI, the result of the client's tool", path: "/chat/s1", session: "s1",
			body: `{"messages":[{"id":"1","role":"user","content":"one"},
				{"id":"2","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"pick","arguments":"{\"n\":1}"}}]},
				{"id":"3","role":"tool","toolCallId":"c1","content":"red"}]}`,
			want: chat.Request{Protocol: "ag-ui", Results: []chat.ToolResult{{ToolCallID: "c1", Content: "red"}}, History: []llm.Message{user, called, result}},
		},
		{
			name: "AG-UI, a failed tool", path: "/chat/s1", session: "s1",
			body: `{"messages":[{"id":"3","role":"tool","toolCallId":"c1","content":"","error":"no such thing"}]}`,
			want: chat.Request{Protocol: "ag-ui", Results: []chat.ToolResult{{ToolCallID: "c1", Content: "no such thing", Failed: true}}},
		},
		{
			name: "AG-UI, interrupts", path: "/chat/s1", session: "s1",
			body: `{"messages":[{"id":"1","role":"user","content":"one"}],"resume":[
				{"interruptId":"q1","status":"resolved","payload":{"approved":false,"comment":"not now"}},
				{"interruptId":"q2","status":"resolved","payload":{"city":"Bern"}},{"interruptId":"q1","status":"cancelled"}]}`,
			want: chat.Request{Protocol: "ag-ui", Answers: []chat.RequestAnswer{
				{RequestID: "q1", Decision: store.Decision{Status: store.RequestDeclined, Comment: "not now", Via: "ag-ui"}},
				{RequestID: "q2", Decision: store.Decision{Status: store.RequestAccepted, Content: json.RawMessage(`{"city":"Bern"}`), Via: "ag-ui"}},
				{RequestID: "q1", Decision: store.Decision{Status: store.RequestCancelled, Via: "ag-ui"}},
			}},
		},
		{
			name: "AI SDK, a message with an image", path: "/api/chat", session: "c2",
			body: `{"id":"c2","trigger":"submit-message","messages":[
				{"id":"1","role":"user","parts":[{"type":"text","text":"one"}]},
				{"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},
					{"type":"dynamic-tool","toolName":"pick","toolCallId":"c1","state":"output-available","input":{"n":1},"output":"red"},{"type":"text","text":"Red."}]},
				{"id":"3","role":"user","parts":[{"type":"text","text":"a"},{"type":"data-x","data":1},{"type":"file","mediaType":"image/png","url":"` + png + `"},{"type":"text","text":"b"}]}]}`,
			want: chat.Request{
				Input: "a\nb", MessageID: "3", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/png", Data: []byte(pngData)}}, Protocol: "ai-sdk",
				History: []llm.Message{user, {Role: llm.Assistant, Content: "Red.", ToolCalls: called.ToolCalls}, result},
			},
		},
		{
			name: "AI SDK, the path outranks the body", path: "/chat/from-path", session: "from-path",
			body: `{"id":"c2","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"one"}]}],"if_busy":"steer","model":"sample-agent"}`,
			want: chat.Request{Input: "one", MessageID: "1", Protocol: "ai-sdk", Busy: chat.BusySteer, Agent: "sample-agent"},
		},
		{
			name: "AI SDK, an edited message", path: "/api/chat", session: "c2",
			body: `{"id":"c2","trigger":"submit-message","messageId":"3","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"one"}]},
				{"id":"2","role":"assistant","parts":[{"type":"text","text":"Red."}]},{"id":"3","role":"user","parts":[{"type":"text","text":"two"}]}]}`,
			want: chat.Request{
				Input: "two", MessageID: "3", Path: []string{"3", "2", "1"}, Protocol: "ai-sdk",
				History: []llm.Message{user, {Role: llm.Assistant, Content: "Red."}},
			},
		},
		{
			name: "AI SDK, the last message alone", path: "/api/chat", session: "c2",
			body: `{"id":"c2","message":{"id":"3","role":"user","parts":[{"type":"text","text":"two"}]}}`,
			want: chat.Request{Input: "two", MessageID: "3", Protocol: "ai-sdk"},
		},
		{
			name: "AI SDK, again", path: "/api/v1/chat", session: "c2",
			body: `{"id":"c2","trigger":"regenerate-message","messageId":"m","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"one"}]}]}`,
			want: chat.Request{Regenerate: true, Path: []string{"m", "1"}, Protocol: "ai-sdk", History: []llm.Message{user}},
		},
		{
			name: "AI SDK, an approval", path: "/chat", session: "c2",
			body: `{"id":"c2","trigger":"submit-message","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"one"}]},
				{"id":"2","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"send","toolCallId":"c1","state":"approval-responded","input":{},"approval":{"id":"q1","approved":true,"reason":"fine"}}]}]}`,
			want: chat.Request{Protocol: "ai-sdk", Answers: []chat.RequestAnswer{
				{RequestID: "q1", Decision: store.Decision{Status: store.RequestAccepted, Comment: "fine", Via: "ai-sdk"}}}},
		},
		{
			name: "AI SDK, the result of the client's tool", path: "/chat", session: "c2",
			body: `{"id":"c2","trigger":"submit-message","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"one"}]},
				{"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"dynamic-tool","toolName":"search","toolCallId":"c0","state":"output-available","input":{},"output":{}},
					{"type":"step-start"},{"type":"dynamic-tool","toolName":"search","toolCallId":"c2","providerExecuted":true,"state":"output-available","input":{},"output":"found"},
					{"type":"tool-pick","toolCallId":"c1","state":"output-available","input":{"n":1},"output":{"colour":"red"}}]}]}`,
			want: chat.Request{Protocol: "ai-sdk", Results: []chat.ToolResult{{ToolCallID: "c1", Content: `{"colour":"red"}`}}, History: []llm.Message{user,
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c0", Name: "search", Arguments: "{}"}, {ID: "c2", Name: "search", Arguments: "{}"}, called.ToolCalls[0]}},
				{Role: llm.ToolRole, ToolCallID: "c0", Name: "search", Content: `{}`},
				{Role: llm.ToolRole, ToolCallID: "c2", Name: "search", Content: `found`},
				{Role: llm.ToolRole, ToolCallID: "c1", Name: "pick", Content: `{"colour":"red"}`}}},
		},
		{
			name: "no id at all", path: "/chat?protocol=events", headers: []string{"X-Session-Id: from-header"}, session: "from-header",
			body: `{"messages":[{"role":"user","content":"one"}]}`, want: chat.Request{Input: "one", Protocol: "events"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := asking()
			if w := talked(t, f, c.path, c.body, c.headers...); w.Code != 200 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(c.want, f.req, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if f.id.SessionID != c.session || f.starts != 1 {
				t.Errorf("session %q, want %q; %d turns", f.id.SessionID, c.session, f.starts)
			}
		})
	}
}

// TestToolChoice: the forms of OpenAI's tool_choice.
func TestToolChoice(t *testing.T) {
	const pick = `{"type":"function","function":{"name":"pick"}}`
	for choice, want := range map[string]run.ToolChoice{
		`null`: {}, `"auto"`: {}, `"none"`: {Mode: "none"}, `"required"`: {Mode: "required"},
		pick: {Mode: "required", Name: "pick"},
		`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[` + pick + `]}}`:     {Allowed: []string{"pick"}},
		`{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[` + pick + `]}}`: {Mode: "required", Allowed: []string{"pick"}},
	} {
		f := newFake()
		talked(t, f, "/v1/chat/completions", `{"tool_choice":`+choice+`,"messages":[{"role":"user","content":"x"}]}`)
		if diff := cmp.Diff(want, f.req.ToolChoice); diff != "" {
			t.Errorf("%s: %s", choice, diff)
		}
	}
}

// TestOpenAITools: tools of the client, and their results.
func TestOpenAITools(t *testing.T) {
	const spec = `"tools":[{"type":"function","function":{"name":"pick","parameters":{"type":"object"},"strict":true}}]`
	const talk = `{"role":"user","content":"one"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"pick","arguments":"{\"n\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"red"}]}`
	f := newFake()
	talked(t, f, "/v1/chat/completions", `{`+spec+`,"tool_choice":"auto","response_format":{"type":"json_schema","json_schema":{"name":"a b","strict":true,"schema":{"type":"object"}}},"messages":[`+talk+`]}`)
	want := chat.Request{
		Protocol: "openai", ClientTools: []llm.ToolSpec{{Name: "pick", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Results: []chat.ToolResult{{ToolCallID: "c1", Content: "red"}},
		History: []llm.Message{{Role: llm.User, Content: "one"},
			{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "pick", Arguments: `{"n":1}`}}},
			{Role: llm.ToolRole, ToolCallID: "c1", Name: "pick", Content: "red"}},
		ResponseFormat: &llm.Output{Name: "a_b", Schema: json.RawMessage(`{"type":"object"}`)},
	}
	if diff := cmp.Diff(want, f.req, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	f = newFake()
	talked(t, f, "/v1/chat/completions", `{`+spec+`,"tool_choice":"none","response_format":{"type":"json_object"},"messages":[`+talk+`,{"role":"assistant","content":"Red."},{"role":"user","content":"two"}]}`)
	if len(f.req.ClientTools) != 1 || f.req.ToolChoice.Mode != run.ChoiceNone || f.req.Input != "two" || len(f.req.History) != 4 || f.req.Results != nil || f.req.ResponseFormat.Name != "json_object" {
		t.Errorf("%+v", f.req)
	}
}

// TestKeys: the hash distinguishes a repeated request from another one.
func TestKeys(t *testing.T) {
	hash := func(path, body string, headers ...string) string {
		f := newFake()
		talked(t, f, path, body, append(headers, "Idempotency-Key: k")...)
		if f.req.Key != "k" || len(f.req.KeyHash) != 64 {
			t.Errorf("%+v", f.req)
		}
		return f.req.KeyHash
	}
	const a, b = `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"role":"user","content":"b"}]}`
	one := hash("/v1/chat/s1", a)
	if one != hash("/chat/s1", a) || one == hash("/chat/s1", b) || one == hash("/chat/s2", a) || hash("/chat/completions", a) == one {
		t.Error("the hash is of the path and the body")
	}
	open := hash("/chat/completions", a)
	for _, header := range []string{"X-Session-Id: s3", "X-Agent-Schema: helper", "X-Model-Name: openai:gpt-4.1", "X-Added-Instruction: Be brief."} {
		named := hash("/chat/completions", a, header)
		if again := hash("/chat/completions", a, header); named == open || named != again {
			t.Errorf("the hash is of %s too", header)
		}
	}
}

// TestManyAnswers: a request has a bounded number of answers, because each is looked up.
func TestManyAnswers(t *testing.T) {
	body := `{"resume":[` + strings.Repeat(`{"interruptId":"r","status":"cancelled"},`, 200) + `{"interruptId":"r"}]}`
	if w := talked(t, newFake(), "/chat/s1", body); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "201 answers") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestTalkHeaders: the headers that a client needs before the first event.
func TestTalkHeaders(t *testing.T) {
	f := newFake()
	w := talked(t, f, "/api/chat/s1", `{"messages":[{"role":"user","parts":[{"type":"text","text":"x"}]}]}`, "X-User-Email: alice@example.com")
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream; charset=utf-8", "X-Vercel-Ai-Ui-Message-Stream": "v1", "X-Accel-Buffering": "no", "Cache-Control": "no-cache, no-store",
		"X-Session-Id": "s1", "X-Run-Id": f.run.ID,
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if f.id.UserID != identity.UserID("alice@example.com") {
		t.Errorf("%+v", f.id)
	}
	w = talked(t, newFake(), "/chat/s1", `{"messages":[{"role":"user","content":"x"}]}`)
	if w.Header().Get("X-Vercel-Ai-Ui-Message-Stream") != "" || !strings.Contains(w.Body.String(), "\nid: 2\n") && !strings.Contains(w.Body.String(), "id: 2\n\n") {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}
