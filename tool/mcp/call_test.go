package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestResults(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_MY_DATA="+f.overHTTP(t).URL).Server("my-data")
	if got := says(t, s, "echo", `{"text":"hello"}`); got != "hello" {
		t.Errorf("echo says %q", got)
	}
	if got := says(t, s, "structured", `{"names":["a","b"]}`); got != `{"names":["a","b"]}` {
		t.Errorf("structured says %q", got)
	}
	res, err := call(t, t.Context(), s, "image", `{}`)
	want := "look:\n\n[image image/png, 2 kB]\n\n[audio audio/wav, 10 bytes]\n\n[resource one <notes://one>: The first note.]\n\nsecond\n\n[document notes://pdf application/pdf, 4 bytes]"
	if err != nil || res.Content != want {
		t.Errorf("image: %v\n%s", err, res.Content)
	}
	if len(res.Parts) != 2 || res.Parts[0].Kind != llm.Image || len(res.Parts[0].Data) != 1500 || res.Parts[1].Kind != llm.Document {
		t.Errorf("parts: %v", res.Parts)
	}
	if len(res.Files) != 1 || res.Files[0].MediaType != "audio/wav" || len(res.Files[0].Data) != 10 {
		t.Errorf("files: %v", res.Files)
	}
	res, err = call(t, t.Context(), s, "fail", `{}`)
	if err != nil || !res.Failed || res.Content != `{"error":"no luck today","status":"error"}` {
		t.Errorf("fail: %v %v", res, err)
	}
	if got := says(t, s, "elicit", `{}`); got != "decline" {
		t.Errorf("elicitation: %s", got)
	}
	if res, _ := call(t, t.Context(), s, "ask", `{"text":"x"}`); !res.Failed {
		t.Error("a server asked a model that nobody lent")
	}
}

func TestAServersOwnErrors(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	remote, _ := find(t, s, "echo").(*remoteTool)
	unknown := &remoteTool{server: remote.server, name: "gone"}
	for _, c := range []struct {
		tool *remoteTool
		args string
		want string
	}{
		{unknown, `{}`, `the MCP server x refused the call: unknown tool "gone"`},
		{remote, `{"text":1}`, "validating"},
	} {
		res, err := c.tool.Call(t.Context(), tool.Call{Arguments: []byte(c.args)})
		text := res.Content
		var known *tool.Error
		if errors.As(err, &known) {
			text = known.Message
		}
		if !strings.Contains(text, c.want) || (err == nil && !res.Failed) {
			t.Errorf("got %v %v, want %s", res, err, c.want)
		}
	}
}

func TestTheCallerIsFilledIn(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	profile := find(t, s, "get.profile")
	spec := profile.Spec()
	if spec.Name != "get_profile" || strings.Contains(string(spec.Parameters), "user_id") {
		t.Errorf("the model sees %s %s", spec.Name, spec.Parameters)
	}
	res, err := profile.Call(asUser(t, "ada"), tool.Call{Arguments: []byte(`{"about":"y","user_id":"eve"}`)})
	if err != nil || res.Content != "ada/y" {
		t.Errorf("got %v %v", res, err)
	}
	var known *tool.Error
	if _, err = profile.Call(asUser(t, ""), tool.Call{Arguments: []byte(`{"user_id":"eve"}`)}); !errors.As(err, &known) {
		t.Errorf("anonymous: %v", err)
	}
}

func TestProgress(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	var mu sync.Mutex
	var got []*event.ProgressData
	res, err := find(t, s, "progress").Stream(t.Context(), tool.Call{ID: "c1"}, func(e event.Event) bool {
		mu.Lock()
		defer mu.Unlock()
		data, _ := e.Data.(*event.ProgressData)
		got = append(got, data)
		if data.Step == 5 {
			f.end()
		}
		return true
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil || res.Content != "done" || len(got) == 0 || len(got) == 5 {
		t.Fatalf("%v %v, %d events", res, err, len(got))
	}
	last := got[len(got)-1]
	if last.TotalSteps != 5 || last.ToolCallID != "c1" || last.ToolName != "progress" || last.Label != "step" || last.Status != "in_progress" {
		t.Errorf("progress %+v", last)
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		done, total float64
		step, of    int
	}{{3, 5, 3, 5}, {0.25, 1, 25, 100}, {1, 1, 100, 100}, {7, 0, 7, 0}, {2.5, 10, 25, 100}, {-1, 0, 0, 0}, {1e300, 0, 1e9, 0}} {
		if step, of := steps(c.done, c.total); step != c.step || of != c.of {
			t.Errorf("steps(%g, %g) = %d, %d", c.done, c.total, step, of)
		}
	}
}

func TestACancelledCallIsCancelledThere(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	slow := find(t, s, "slow")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-f.waiting; cancel() }()
	if _, err := slow.Call(ctx, tool.Call{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	within(t, f.cancelled, "the cancellation")
	if got := says(t, s, "echo", `{"text":"still here"}`); got != "still here" {
		t.Error(got)
	}
}

func TestListChanged(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	says(t, s, "more", `{}`)
	deadline := time.Now().Add(10 * time.Second)
	for {
		tools, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range tools {
			if found.Spec().Name == "added" {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the new tool was never seen")
		}
	}
}

// sampler is a model that repeats its question.
type sampler struct {
	name string
	mu   sync.Mutex
	reqs []*llm.Request
}

func (s *sampler) Sample(_ context.Context, req *llm.Request) (string, llm.Message, llm.Finish, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reqs = append(s.reqs, req)
	return s.name, llm.Message{Role: llm.Assistant, Content: req.Messages[len(req.Messages)-1].Content + "!"}, llm.FinishStop, nil
}

// Each call's questions go to its own model, also for concurrent calls.
func TestSampling(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	ask := find(t, s, "ask")
	var wait sync.WaitGroup
	for i := range 2 * maxSamplers {
		wait.Go(func() {
			name := string(rune('a' + i))
			model := &sampler{name: name}
			res, err := ask.Call(tool.WithSampler(t.Context(), model), tool.Call{Arguments: []byte(`{"text":"hi ` + name + `"}`)})
			if err != nil || res.Content != name+" says hi "+name+"!" {
				t.Errorf("%s: %v %v", name, res, err)
				return
			}
			req := model.reqs[0]
			if req.Messages[0].Content != "be brief" || req.Settings.MaxTokens != 7 || req.Settings.Stop[0] != "END" || req.Settings.Temperature != nil {
				t.Errorf("request %+v", req)
			}
		})
	}
	wait.Wait()
}

func TestResources(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	list, err := s.List(t.Context())
	if err != nil || len(list) != 2 || list[0].URI != "notes://one" || !list[1].Template {
		t.Fatalf("%v %v", list, err)
	}
	got, err := s.Read(t.Context(), "notes://one")
	if err != nil || len(got) != 1 || got[0].Text != "first" {
		t.Errorf("%v %v", got, err)
	}
	if got, err = s.Read(t.Context(), "notes://by/7"); err != nil || string(got[0].Data) != "\x01\x02\x03" {
		t.Errorf("%v %v", got, err)
	}
	var known *tool.Error
	if _, err = s.Read(t.Context(), "notes://none"); !errors.As(err, &known) || known.Message != "the MCP server x has no resource notes://none" {
		t.Errorf("%v", err)
	}
}

func TestOldServers(t *testing.T) {
	f := newFixture()
	server := f.server()
	h := sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil)
	srv := serve(t, "127.0.0.1:0", h)
	s := open(t, Options{}, "MCP_SERVER_OLD="+srv.URL).Server("old")
	if got := says(t, s, "echo", `{"text":"hello"}`); got != "hello" {
		t.Error(got)
	}
}

func TestTokens(t *testing.T) {
	f := newFixture()
	srv := f.listen(t, "127.0.0.1:0", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer good" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	for _, c := range []struct{ token, want string }{
		{"good", ""},
		{"bad", "the MCP server x refuses the token of MCP_SERVER_X_TOKEN (status 401)"},
		{"", "the MCP server x wants a token: set MCP_SERVER_X_TOKEN (status 401)"},
	} {
		s := open(t, Options{}, "MCP_SERVER_X="+srv.URL, "MCP_SERVER_X_TOKEN="+c.token).Server("x")
		_, err := s.Tools(t.Context())
		if (c.want == "" && err != nil) || (c.want != "" && (err == nil || err.Error() != c.want)) {
			t.Errorf("token %q: %v", c.token, err)
		}
	}
}

// A server must not get another server's token by redirecting to it.
func TestHeadersStayAtHome(t *testing.T) {
	var seen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 307, 308} {
		srv := serve(t, "127.0.0.1:0", http.RedirectHandler(thief.URL, status))
		s := open(t, Options{}, "MCP_SERVER_X="+srv.URL, "MCP_SERVER_X_TOKEN=secret").Server("x")
		if _, err := s.Tools(t.Context()); err == nil || err.Error() != "the MCP server x points to another host, which p8 does not follow" {
			t.Errorf("%d: %v", status, err)
		}
	}
	sse := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: endpoint\ndata: " + thief.URL + "/steal\n\n"))
	}))
	s := open(t, Options{}, "MCP_SERVER_X="+sse.URL, "MCP_SERVER_X_TOKEN=secret").Server("x")
	if _, err := s.Tools(t.Context()); err == nil {
		t.Error("the other host was followed")
	}
	if len(seen) > 0 {
		t.Errorf("the other host saw %q", seen)
	}
}

func TestOAuth(t *testing.T) {
	f := newFixture()
	var base string
	mux := http.NewServeMux()
	answer := func(path string, value func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value())
		})
	}
	answer("/.well-known/oauth-protected-resource/mcp", func() any {
		return map[string]any{"resource": base + "/mcp", "authorization_servers": []string{base}}
	})
	answer("/.well-known/oauth-authorization-server", func() any {
		return map[string]any{"issuer": base, "token_endpoint": base + "/token", "response_types_supported": []string{"code"},
			"authorization_endpoint": base + "/authorize", "code_challenge_methods_supported": []string{"S256"}}
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		id, secret, ok := r.BasicAuth()
		if !ok || id != "me" || secret != "s3cret" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "read write" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"fresh","token_type":"bearer","expires_in":3600}`))
	})
	server := f.server()
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer fresh" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
	srv := serve(t, "127.0.0.1:0", mux)
	base = srv.URL
	for _, more := range []string{"", `,"token_url":"` + base + `/token"`} {
		file := filepath.Join(t.TempDir(), "mcp.json")
		src := `{"mcpServers":{"x":{"url":"` + base + `/mcp","oauth":{"client_id":"me","client_secret":"${SECRET}","scopes":["read","write"]` + more + `}}}}`
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		for secret, works := range map[string]bool{"s3cret": true, "wrong": false} {
			s := open(t, Options{ConfigFile: file, Getenv: func(string) string { return secret }}).Server("x")
			_, err := s.Tools(t.Context())
			if works != (err == nil) {
				t.Errorf("secret %q: %v", secret, err)
			}
			if err != nil && strings.Contains(err.Error(), "http") {
				t.Errorf("the error shows too much: %v", err)
			}
		}
	}
}
