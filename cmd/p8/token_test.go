package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/cmd/p8/internal/wiring"
)

const signingSecret = "0123456789abcdef0123456789abcdef"

// tokenUntil is a token of Rita, who may do everything in her tenant.
func tokenUntil(t *testing.T, expires time.Time) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(signingSecret)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(fmt.Appendf(nil, `{"sub":"rita","tenant_id":"acme","roles":["admin"],"exp":%d}`, expires.Unix()))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// guardedServer is a server of all protocols, whose callers have tokens.
func guardedServer(t *testing.T, environ ...string) *httptest.Server {
	t.Helper()
	a, cfg := testApp(t, &bytes.Buffer{}, &bytes.Buffer{}, append(environ,
		"P8_AUTH_JWT_SECRET="+signingSecret, "P8_AUTH_CLOCK_SKEW=1s", "P8_MANUAL=false", "P8_A2A_AGENTS=*", "P8_MCP_AGENTS=general", "P8_A2A_PRIVATE_WEBHOOKS=true")...)
	p := testParts(t, a, cfg, wiring.Options{Serves: true})
	callers, err := wiring.Callers(cfg, p.Store, p.Log)
	if err != nil {
		t.Fatal(err)
	}
	if p.MCP, err = p.NewMCP(cfg); err != nil {
		t.Fatal(err)
	}
	if err := p.OpenA2A(cfg, true); err != nil {
		t.Fatal(err)
	}
	work, err := p.StartBackground(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(work.Close)
	server := httptest.NewServer(p.Handler(cfg, callers))
	t.Cleanup(server.Close)
	t.Cleanup(p.MCP.Close)
	t.Cleanup(p.A2A.Close)
	return server
}

// caller sends requests with a token.
type caller struct {
	t     *testing.T
	base  string
	token string
}

func (c *caller) send(method, path, body string, headers ...string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { res.Body.Close() })
	return res
}

// rpc is a call of JSON-RPC.
func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// TestNoStreamOutlivesItsToken: each protocol's stream ends with the token of its caller,
// without an end of the run, which goes on.
func TestNoStreamOutlivesItsToken(t *testing.T) {
	const longest = 30 * time.Second
	for lifetime := 2 * time.Second; ; lifetime *= 5 {
		problems, late := streamsEnd(t, lifetime)
		if !late || lifetime > longest { // a slow machine may not open all streams in time
			for _, p := range problems {
				t.Error(p)
			}
			return
		}
	}
}

// streamsEnd opens all streams with a token, and returns what is wrong with their ends. late
// reports whether some were opened too late.
func streamsEnd(t *testing.T, lifetime time.Duration) (problems []string, late bool) {
	provider := newProvider(t)
	server := guardedServer(t, useProvider(provider, "openai:slow")...)
	short := &caller{t, server.URL, tokenUntil(t, time.Now().Add(lifetime))}
	long := &caller{t, server.URL, tokenUntil(t, time.Now().Add(time.Hour))}

	const a2a = "/a2a/general"
	message := `{"message":{"messageId":"%s","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	first := long.send("POST", "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"hi"}]}`, "X-Session-Id", "s0")
	run := first.Header.Get("X-Run-Id")
	task := long.send("POST", a2a, rpc("SendStreamingMessage", fmt.Sprintf(message, "m0")), "A2A-Version", "1.0")
	var begun struct {
		Result struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(firstLine(t, task.Body), "data: ")), &begun); err != nil || begun.Result.Task.ID == "" {
		t.Fatal(begun, err)
	}
	opened := short.send("POST", "/mcp", rpc("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
	session := []string{"Mcp-Session-Id", opened.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-06-18"}
	short.send("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session...)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	stateless := func(method string, more ...string) []string {
		return append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, more...)
	}

	var all sync.WaitGroup
	var mu sync.Mutex
	wrong := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	for name, open := range map[string]func() *http.Response{
		"chat completions": func() *http.Response {
			return short.send("POST", "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"hi"}]}`)
		},
		"Responses": func() *http.Response {
			return short.send("POST", "/v1/responses", `{"stream":true,"model":"general","input":"hi"}`)
		},
		"AG-UI": func() *http.Response {
			return short.send("POST", "/chat", `{"threadId":"t1","runId":"r1","messages":[{"id":"1","role":"user","content":"hi"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`)
		},
		"AI SDK": func() *http.Response {
			return short.send("POST", "/api/chat", `{"id":"t2","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}]}`)
		},
		"events of a run": func() *http.Response { return short.send("GET", "/runs/"+run+"/events", "") },
		"notifications":   func() *http.Response { return short.send("GET", "/notifications", "") },
		"A2A": func() *http.Response {
			return short.send("POST", a2a, rpc("SendStreamingMessage", fmt.Sprintf(message, "m1")), "A2A-Version", "1.0")
		},
		"A2A, subscribed": func() *http.Response {
			return short.send("POST", a2a, rpc("SubscribeToTask", `{"id":"`+begun.Result.Task.ID+`"}`), "A2A-Version", "1.0")
		},
		"A2A, waiting": func() *http.Response {
			return short.send("POST", a2a, rpc("SendMessage", fmt.Sprintf(message, "m2")), "A2A-Version", "1.0")
		},
		"MCP": func() *http.Response { return short.send("GET", "/mcp", "", session...) },
		"MCP, a call": func() *http.Response {
			return short.send("POST", "/mcp", rpc("tools/call", `{"name":"general","arguments":{"input":"hi"}}`), session...)
		},
		"MCP, a call without a session": func() *http.Response {
			return short.send("POST", "/mcp", rpc("tools/call", `{`+meta+`,"name":"general","arguments":{"input":"hi"}}`), stateless("tools/call", "Mcp-Name", "general")...)
		},
		"MCP, listening": func() *http.Response {
			return short.send("POST", "/mcp", rpc("subscriptions/listen", `{`+meta+`,"notifications":{"toolsListChanged":true}}`), stateless("subscriptions/listen")...)
		},
	} {
		all.Go(func() {
			res := open()
			text, _ := io.ReadAll(res.Body) // ends with the token
			if strings.HasSuffix(name, "waiting") {
				if res.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "the run goes on") {
					wrong("%s: %d %s", name, res.StatusCode, text)
				}
				return
			}
			if res.StatusCode == http.StatusUnauthorized {
				mu.Lock()
				late = true
				mu.Unlock()
				return
			}
			if res.StatusCode != http.StatusOK {
				wrong("%s: %d %s", name, res.StatusCode, text)
			}
			for _, end := range []string{"[DONE]", "finish_reason\":\"stop", "response.completed", "response.failed", "RUN_FINISHED", "RUN_ERROR", `"type":"finish"`, `"type":"error"`, "event: error", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"} {
				if strings.Contains(string(text), end) {
					wrong("%s ends with %s: %s", name, end, text)
				}
			}
		})
	}
	all.Wait()

	var runs []struct{ Status string }
	list := long.send("GET", "/runs?limit=100", "")
	if err := json.NewDecoder(list.Body).Decode(&runs); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Status != "running" {
			wrong("a run is %s after the token of its caller has expired", r.Status)
		}
	}
	if len(runs) != 10 {
		wrong("there are %d runs", len(runs))
	}
	if res := short.send("GET", "/runs", ""); res.StatusCode != http.StatusUnauthorized {
		wrong("the expired token still counts: %d", res.StatusCode)
	}
	return problems, late || len(runs) < 10
}

// recorder is a server that keeps what it is sent: a provider, an MCP server, a webhook.
type recorder struct {
	mu   sync.Mutex
	sent map[string]string
	next http.Handler
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	r.sent[strings.SplitN(req.URL.Path, "/", 3)[1]] += fmt.Sprintln(req.Method, req.URL, req.Header, string(body))
	r.mu.Unlock()
	r.next.ServeHTTP(w, req)
}

// TestNoTokenIsPassedOn: of the caller's token nothing reaches a model, an MCP server, a
// webhook or the provider of the keys, in no header, address or body.
func TestNoTokenIsPassedOn(t *testing.T) {
	model := &provider{}
	mcpServer := sdk.NewServer(&sdk.Implementation{Name: "x", Version: "1"}, nil)
	called := make(chan struct{}, 10)
	sdk.AddTool(mcpServer, &sdk.Tool{Name: "search"}, func(context.Context, *sdk.CallToolRequest, struct {
		Query string `json:"query"`
	}) (*sdk.CallToolResult, any, error) {
		called <- struct{}{}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "found"}}}, nil, nil
	})
	hooked := make(chan struct{}, 10)
	mux := http.NewServeMux()
	mux.Handle("/model/", model)
	mux.Handle("/mcp", sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return mcpServer }, nil))
	mux.HandleFunc("/hook", func(http.ResponseWriter, *http.Request) { hooked <- struct{}{} })
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &private.PublicKey, KeyID: "k", Use: "sig"}}})
	})
	out := &recorder{sent: map[string]string{}, next: mux}
	outside := httptest.NewServer(out)
	t.Cleanup(outside.Close)

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "finder.yaml"), []byte("name: finder\ndescription: You find things.\ntools:\n  - {name: search, mcp_server: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := guardedServer(t, "OPENAI_BASE_URL="+outside.URL+"/model", "OPENAI_API_KEY=sk-test", "P8_DEFAULT_MODEL=openai:search", quickExit,
		"MCP_SERVER_X="+outside.URL+"/mcp", "P8_SCHEMA_DIR="+dir,
		"P8_AUTH_JWKS_URL="+outside.URL+"/keys", "P8_AUTH_ISSUER=https://login.example.com", "P8_AUTH_AUDIENCE=https://agents.example.com")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(fmt.Appendf(nil, `{"iss":"https://login.example.com","aud":"https://agents.example.com","sub":"rita","tenant_id":"acme","exp":%d}`, time.Now().Add(time.Hour).Unix()))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	rita := &caller{t, server.URL, token}
	say := rita.send("POST", "/v1/chat/completions", `{"model":"finder","messages":[{"role":"user","content":"hi"}]}`, "X-Is-Eval", "yes", "X-Session-Id", "trial")
	if text, _ := io.ReadAll(say.Body); say.StatusCode != http.StatusOK {
		t.Fatalf("%s", text)
	}
	<-called
	task := rita.send("POST", "/a2a/finder", rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},"configuration":{"taskPushNotificationConfig":{"url":"`+outside.URL+`/hook"}}}`), "A2A-Version", "1.0")
	if text, _ := io.ReadAll(task.Body); task.StatusCode != http.StatusOK || strings.Contains(string(text), `"error"`) {
		t.Fatalf("%s", text)
	}
	<-called
	<-hooked
	out.mu.Lock()
	defer out.mu.Unlock()
	for _, at := range []string{"model", "mcp", "keys", "hook"} {
		if out.sent[at] == "" {
			t.Errorf("nothing was sent to %s: the test proves nothing", at)
		}
	}
	parts := strings.Split(token, ".")
	for at, text := range out.sent {
		for _, secret := range []string{token, parts[1], parts[2]} {
			if strings.Contains(text, secret) {
				t.Errorf("the token reaches %s: %s", at, text)
			}
		}
	}
	evaluations := rita.send("GET", "/sessions?mode=evaluation", "")
	if text, _ := io.ReadAll(evaluations.Body); !strings.Contains(string(text), `"trial"`) {
		t.Errorf("X-Is-Eval marks no session: %s", text)
	}
}

// firstLine reads the first line that has text.
func firstLine(t *testing.T, from io.Reader) string {
	t.Helper()
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := from.Read(one); err != nil {
			t.Fatal(err)
		}
		if one[0] != '\n' {
			line = append(line, one[0])
		} else if text := string(line); strings.HasPrefix(text, "data: ") {
			return text
		} else {
			line = nil
		}
	}
}
