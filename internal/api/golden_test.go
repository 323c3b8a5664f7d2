package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

const hello = `{"messages":[{"role":"user","content":"hello"}]}`

// chatCase is a request that fails.
type chatCase struct {
	name    string
	body    string
	headers []string
	turns   []scripted.Turn
}

func providerFails(kind llm.ErrorKind, status int) []scripted.Turn {
	return []scripted.Turn{scripted.Fail(&llm.Error{
		Kind: kind, Model: "openai:gpt-4.1", Status: status, Err: fmt.Errorf("sk-secret: the provider's own words"),
	})}
}

// TestChatErrors pins status, headers and body of every failure of a chat request.
func TestChatErrors(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, c := range []chatCase{
		{name: "bad-json", body: "{\n  \"messages\": [}\n"},
		{name: "json-cut", body: `{"messages": [`},
		{name: "json-array", body: `[1]`},
		{name: "json-null", body: `null`},
		{name: "body-empty", body: ` `},
		{name: "body-huge", body: `{"messages":"` + long + `"}`},
		{name: "media-type", body: hello, headers: []string{"Content-Type: application/x-www-form-urlencoded"}},
		{name: "messages-missing", body: `{}`},
		{name: "messages-empty", body: `{"messages":[]}`},
		{name: "messages-type", body: "{\"model\":\"general\",\n \"messages\":\"hi\"}"},
		{name: "messages-no-user", body: `{"messages":[{"role":"system","content":"x"}]}`},
		{name: "message-blank", body: `{"messages":[{"role":"user","content":"  "}]}`},
		{name: "message-role", body: `{"messages":[{"role":"wizard","content":"x"}]}`},
		{name: "message-image", body: `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}}]}]}`},
		{name: "message-image-file", body: user(image("file:///etc/passwd"))},
		{name: "message-image-base64", body: user(`{"type":"text","text":"a"}`, image("data:image/png;base64,***"))},
		{name: "message-image-plain", body: user(image("data:image/png,abc"))},
		{name: "message-image-svg", body: user(image("data:image/svg+xml;base64," + base("<svg/>")))},
		{name: "message-image-bmp", body: user(image("data:image/bmp;base64," + base("BM rest")))},
		{name: "message-image-empty", body: user(`{"type":"image_url","image_url":{}}`)},
		{name: "message-image-detail", body: user(`{"type":"image_url","image_url":{"url":"https://example.com","detail":"ultra"}}`)},
		{name: "message-image-many", body: user(strings.Split(strings.TrimSuffix(strings.Repeat(image("https://e.com")+"|", 21), "|"), "|")...)},
		{name: "message-image-system", body: `{"messages":[{"role":"system","content":[` + image("https://example.com") + `]}]}`},
		{name: "message-file-type", body: user(file("a.zip", "data:application/zip;base64,"+base("PK")))},
		{name: "message-file-empty", body: user(file("a.pdf", "data:application/pdf;base64,"))},
		{name: "message-file-latin", body: user(file("a.txt", "data:text/plain;base64,"+base("caf\xe9")))},
		{name: "message-file-id", body: user(`{"type":"file","file":{"file_id":"file-1"}}`)},
		{name: "message-audio", body: user(`{"type":"input_audio","input_audio":{"data":"","format":"wav"}}`)},
		{name: "message-part", body: user(`{"type":"image_url","image_url":7}`)},
		{name: "message-part-type", body: user(`{"type":"video"}`)},
		{name: "message-content", body: `{"messages":[{"role":"user","content":{"text":"x"}}]}`},
		{name: "temperature", body: `{"messages":[{"role":"user","content":"x"}],"temperature":3}`},
		{name: "max-tokens", body: `{"messages":[{"role":"user","content":"x"}],"max_tokens":0}`},
		{name: "max-tokens-type", body: `{"messages":[{"role":"user","content":"x"}],"max_tokens":1.5}`},
		{name: "stop-type", body: `{"messages":[{"role":"user","content":"x"}],"stop":1}`},
		{name: "n", body: `{"messages":[{"role":"user","content":"x"}],"n":2}`},
		{name: "response-format", body: `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"xml"}}`},
		{name: "response-format-schema", body: `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"a"}}}`},
		{name: "response-format-bad", body: `{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","required":"a"}}}}`},
		{name: "tools", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}`},
		{name: "tools-type", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search"}]}`},
		{name: "tools-name", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a b"}}]}`},
		{name: "tools-twice", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"function":{"name":"a"}},{"function":{"name":"a"}}]}`},
		{name: "tools-schema", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"function":{"name":"a","parameters":{"type":"array"}}}]}`},
		{name: "tool-choice-type", body: `{"messages":[{"role":"user","content":"x"}],"tool_choice":7}`},
		{name: "tool-choice-word", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":"any"}`},
		{name: "tool-choice-unknown", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"function","function":{"name":"b"}}}`},
		{name: "tool-choice-nameless", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"function"}}`},
		{name: "tool-choice-custom", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"custom","custom":{"name":"a"}}}`},
		{name: "tool-choice-fields", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"function","function":"a"}}`},
		{name: "tool-choice-allowed-none", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}}`},
		{name: "tool-choice-allowed-mode", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"some","tools":[{"type":"function","function":{"name":"a"}}]}}}`},
		{name: "tool-choice-allowed-unknown", body: `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"b"}}]}}}`},
		{name: "n0", body: `{"messages":[{"role":"user","content":"x"}],"n":0}`},
		{name: "logprobs", body: `{"messages":[{"role":"user","content":"x"}],"logprobs":true}`},
		{name: "top-logprobs", body: `{"messages":[{"role":"user","content":"x"}],"top_logprobs":2}`},
		{name: "modalities", body: `{"messages":[{"role":"user","content":"x"}],"modalities":["text","audio"]}`},
		{name: "audio", body: `{"messages":[{"role":"user","content":"x"}],"audio":{"voice":"alloy"}}`},
		{name: "prediction", body: `{"messages":[{"role":"user","content":"x"}],"prediction":{"type":"content","content":"x"}}`},
		{name: "web-search", body: `{"messages":[{"role":"user","content":"x"}],"web_search_options":{}}`},
		{name: "cache-retention", body: `{"messages":[{"role":"user","content":"x"}],"prompt_cache_retention":"24h"}`},
		{name: "function-call", body: `{"messages":[{"role":"user","content":"x"}],"function_call":"auto"}`},
		{name: "seed-type", body: `{"messages":[{"role":"user","content":"x"}],"seed":"x"}`},
		{name: "penalty", body: `{"messages":[{"role":"user","content":"x"}],"presence_penalty":3}`},
		{name: "logit-bias", body: `{"messages":[{"role":"user","content":"x"}],"logit_bias":{"a":1}}`},
		{name: "logit-bias-range", body: `{"messages":[{"role":"user","content":"x"}],"logit_bias":{"1":101}}`},
		{name: "service-tier", body: `{"messages":[{"role":"user","content":"x"}],"service_tier":"gold"}`},
		{name: "verbosity", body: `{"messages":[{"role":"user","content":"x"}],"verbosity":"chatty"}`},
		{name: "safety-identifier", body: `{"messages":[{"role":"user","content":"x"}],"safety_identifier":"` + strings.Repeat("u", 65) + `"}`},
		{name: "seed-not-taken", body: `{"messages":[{"role":"user","content":"x"}],"seed":7}`},
		{name: "message-function", body: `{"messages":[{"role":"user","content":"x"},{"role":"function","name":"a","content":"1"}]}`},
		{name: "message-tool-id", body: `{"messages":[{"role":"user","content":"x"},{"role":"tool","content":"1"}]}`},
		{name: "functions", body: `{"messages":[{"role":"user","content":"x"}],"functions":[{"name":"a"}]}`},
		{name: "if-busy", body: `{"messages":[{"role":"user","content":"x"}],"if_busy":"wait"}`},
		{name: "if-busy-header", body: hello, headers: []string{"X-If-Busy: wait"}},
		{name: "key", body: hello, headers: []string{"Idempotency-Key: " + strings.Repeat("k", 256)}},
		{name: "protocol", body: hello, headers: []string{"X-Protocol: smtp"}},
		{name: "metadata", body: `{"messages":[{"role":"user","content":"x"}],"metadata":{"a":1}}`},
		{name: "query-empty", body: `{"query":{"query":" "}}`},
		{name: "event-format", body: hello, headers: []string{"X-Event-Format: xml"}},
		{name: "session-id", body: hello, headers: []string{"X-Session-Id: " + strings.Repeat("s", 129)}},
		{name: "user-id", body: hello, headers: []string{"X-User-Id: a\x01"}},
		{name: "agent-unknown", body: hello, headers: []string{"X-Agent-Schema: genral"}},
		{name: "agent-unknown-far", body: hello, headers: []string{"X-Agent-Schema: nobody"}},
		{name: "agent-path", body: hello, headers: []string{"X-Agent-Schema: ../../etc/passwd"}},
		{name: "model-unknown", body: `{"model":"genral","messages":[{"role":"user","content":"x"}]}`},
		{name: "model-path", body: `{"model":"anthropic/claude","messages":[{"role":"user","content":"x"}]}`},
		{name: "model-provider-unknown", body: `{"model":"opneai:gpt-4.1","messages":[{"role":"user","content":"x"}]}`},
		{name: "host", body: hello, headers: []string{"Host: evil.example"}},
		{name: "origin", body: hello, headers: []string{"Origin: https://evil.example"}},
		{name: "provider-401", body: hello, turns: providerFails(llm.Auth, 401)},
		{name: "provider-429", body: hello, turns: providerFails(llm.RateLimit, 429)},
		{name: "provider-500", body: hello, turns: providerFails(llm.Unavailable, 500)},
		{name: "provider-timeout", body: hello, turns: providerFails(llm.Timeout, 0)},
		{name: "provider-garbage", body: hello, turns: providerFails(llm.BadResponse, 200)},
		{name: "provider-400", body: hello, turns: providerFails(llm.BadRequest, 400)},
		{name: "provider-no-model", body: hello, turns: providerFails(llm.NotFound, 404)},
		{name: "provider-window", body: hello, turns: providerFails(llm.ContextLength, 400)},
		{name: "provider-401-streamed", body: `{"stream":true,"messages":[{"role":"user","content":"x"}]}`, turns: providerFails(llm.Auth, 401)},
		{name: "provider-cut-streamed", body: `{"stream":true,"messages":[{"role":"user","content":"x"}]}`, turns: []scripted.Turn{
			{Text: []string{"Once upon"}, Err: &llm.Error{Kind: llm.Unavailable, Model: "openai:gpt-4.1"}},
		}},
		{name: "provider-bug", body: hello, turns: []scripted.Turn{scripted.Fail(fmt.Errorf("/secret/path: sk-secret"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var set setup
			set.api.TrustHeaders, set.api.MaxBody, set.noStore = true, 64<<10, true
			s := newServer(t, set, c.turns...)
			r := request("POST", "/v1/chat/completions", c.body, c.headers...)
			if host := r.Header.Get("Host"); host != "" {
				r.Host = host
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			goldenResponse(t, "chat", c.name, w)
			s.model.AssertDone(t)
		})
	}
}

// restCase is a request to p8's own resources.
type restCase struct {
	name, method, path, body string
	headers                  []string
	noStore                  bool
}

// TestREST pins the answers of the other routes, good and bad, on a store with three
// documents and on a server without a store.
func TestREST(t *testing.T) {
	const yaml = "Content-Type: application/yaml"
	var set setup
	set.api.TrustHeaders, set.api.Tools = true, func(context.Context) []string { return []string{"search", "action"} }
	stored := newServer(t, set)
	set.noStore = true
	bare := newServer(t, set)
	for _, c := range []restCase{
		{name: "index", method: "GET", path: "/"},
		{name: "unknown-url", method: "GET", path: "/nowhere"},
		{name: "unknown-url-openai", method: "GET", path: "/v1/nowhere"},
		{name: "method-talk", method: "GET", path: "/v1/chat/nowhere"},
		{name: "schema-openai", method: "POST", path: "/v1/schemas/", headers: []string{yaml},
			body: "type: object\nname: my-agent\ndescripton: You are helpful.\ntools: search\n"},
		{name: "query-openai", method: "POST", path: "/v1/query", body: `{"query":"SEARCH"}`},
		{name: "sessions-openai", method: "GET", path: "/v1/sessions?limit=x"},
		{name: "method", method: "PUT", path: "/schemas/general"},
		{name: "method-openai", method: "GET", path: "/v1/chat/completions"},
		{name: "health", method: "GET", path: "/health"},
		{name: "ready", method: "GET", path: "/ready"},
		{name: "models", method: "GET", path: "/v1/models"},
		{name: "model", method: "GET", path: "/v1/models/scripted:test"},
		{name: "model-agent", method: "GET", path: "/api/v1/models/sample-agent"},
		{name: "model-unknown", method: "GET", path: "/models/sampel-agent"},
		{name: "schemas-name", method: "GET", path: "/schemas/?name=dreaming-agent"},
		{name: "schemas-kind", method: "GET", path: "/schemas?kind=evaluator"},
		{name: "schemas-limit", method: "GET", path: "/schemas?limit=0"},
		{name: "schemas-limit-type", method: "GET", path: "/schemas?limit=x&kind=" + strings.Repeat("k", 51)},
		{name: "schemas-cursor", method: "GET", path: "/schemas?cursor=%25"},
		{name: "schemas-none", method: "GET", path: "/schemas?name=general", noStore: true},
		{name: "schema", method: "GET", path: "/schemas/general"},
		{name: "schema-unknown", method: "GET", path: "/schemas/nobody"},
		{name: "schema-near", method: "GET", path: "/schemas/sample-agnet"},
		{name: "schema-other-name", method: "GET", path: "/schemas/agents%2Fsample-agent.yaml"},
		{name: "schema-delete-builtin", method: "DELETE", path: "/schemas/general"},
		{name: "schema-delete-none", method: "DELETE", path: "/schemas/general", noStore: true},
		{name: "schema-delete-unknown", method: "DELETE", path: "/schemas/nobody"},
		{name: "schema-put", method: "POST", path: "/schemas/", headers: []string{yaml},
			body: "type: object\nname: my-agent\ndescription: You are helpful.\ntools:\n  - name: search\n"},
		{name: "schema-put-row", method: "POST", path: "/schemas/",
			body: `{"name":"my-agent","kind":"agent","content":"You are helpful.","json_schema":{"temperature":0.7}}`},
		{name: "schema-put-providers", method: "POST", path: "/schemas/",
			body: `{"name":"list","content":"List things.","json_schema":{"structured_output":true,"properties":{"things":{"type":"array"}}}}`},
		{name: "schema-put-bad", method: "POST", path: "/schemas/", headers: []string{yaml},
			body: "type: object\nname: my-agent\ndescripton: You are helpful.\ntools: search\ntemperature: hot\n"},
		{name: "schema-put-bad-row", method: "POST", path: "/schemas/",
			body: `{"name":"my-agent","content":"x","json_schema":{"tools":"search"}}`},
		{name: "schema-put-kind", method: "POST", path: "/schemas/", body: `{"name":"t","kind":"table","content":"x"}`},
		{name: "schema-put-names", method: "POST", path: "/schemas/", body: `{"name":"one","content":"x","json_schema":{"name":"two"}}`},
		{name: "schema-put-json", method: "POST", path: "/schemas/", body: `{"name":`},
		{name: "schema-put-empty", method: "POST", path: "/schemas/", headers: []string{yaml}, body: " \n"},
		{name: "schema-put-odd", method: "POST", path: "/schemas/", headers: []string{yaml},
			body: "type: object\nname: my-agent\ndescription: You are helpful.\ntools:\n  - name: serach\ntemprature: 1\n"},
		{name: "schema-put-media-type", method: "POST", path: "/schemas/", body: `<a/>`, headers: []string{"Content-Type: application/xml"}},
		{name: "schema-put-none", method: "POST", path: "/schemas/", body: `{}`, noStore: true},
		{name: "schema-delete", method: "DELETE", path: "/schemas/my-agent"},
		{name: "schema-none", method: "GET", path: "/schemas/sample", noStore: true},
		{name: "schema-unknown-none", method: "GET", path: "/schemas/nobody", noStore: true},
		{name: "session-none", method: "GET", path: "/sessions/x", noStore: true},
		{name: "messages-none", method: "GET", path: "/sessions/x/messages", noStore: true},
		{name: "message-none", method: "GET", path: "/messages/x", noStore: true},
		{name: "sessions", method: "GET", path: "/sessions"},
		{name: "sessions-none", method: "GET", path: "/sessions", noStore: true},
		{name: "session-unknown", method: "GET", path: "/sessions/nobody"},
		{name: "session-messages-unknown", method: "GET", path: "/sessions/nobody/messages"},
		{name: "session-messages-cursor", method: "GET", path: "/sessions/x/messages?cursor=x"},
		{name: "message-unknown", method: "GET", path: "/messages/nobody"},
		{name: "bad-header", method: "GET", path: "/sessions", headers: []string{"X-Tenant-Id: _"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stored
			if c.noStore {
				s = bare
			}
			headers := append([]string{"X-Request-Id: of the client"}, c.headers...)
			goldenResponse(t, "rest", c.name, s.do(c.method, c.path, c.body, headers...))
		})
	}
}

var (
	counts    = regexp.MustCompile(`"(input_tokens|output_tokens|token_count|latency_ms)":\d+`)
	timestamp = regexp.MustCompile(`"20\d\d-\d\d-\d\dT[0-9:.]+Z"`)
	shown     = []string{"Content-Type", "Cache-Control", "X-Accel-Buffering", "x-vercel-ai-ui-message-stream", "X-Session-Id", "X-Run-Id", "X-Request-Id", "Retry-After", "Allow", "Link", "Location"}
)

// goldenResponse compares an answer with testdata/<kind>/<name>.http, without times and
// counts, and checks that it has no secret.
func goldenResponse(t *testing.T, kind, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	for _, h := range shown {
		if v := w.Header().Get(h); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", h, v)
		}
	}
	body := timestamp.ReplaceAllString(w.Body.String(), `"<time>"`)
	b.WriteString("\n" + counts.ReplaceAllString(body, `"$1":0`))
	secrets := []string{"sk-secret", "own words", "/secret", "goroutine", "invalid character"}
	if kind != "query" { // where SQL is a word like others
		secrets = append(secrets, "sql")
	}
	for _, secret := range secrets {
		if strings.Contains(strings.ToLower(w.Body.String()), secret) {
			t.Errorf("%q is in the answer", secret)
		}
	}
	golden.Compare(t, filepath.Join("testdata", kind, name+".http"), b.String())
}
