package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"p8/tool"
)

// A server that comes back where it was is found again, and the call that finds
// out is done once.
func TestARestartedServer(t *testing.T) {
	first, second := newFixture(), newFixture()
	srv := first.overHTTP(t)
	address := srv.Listener.Addr().String()
	s := open(t, Options{}, "MCP_SERVER_X="+srv.URL).Server("x")
	echo := find(t, s, "echo")
	kill(srv)
	remote, _ := s.(*server)
	remote.all.own.CloseIdleConnections()
	second.listen(t, address, nil)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			res, err := echo.Call(t.Context(), tool.Call{Arguments: []byte(`{"text":"again"}`)})
			if err != nil || res.Content != "again" {
				t.Errorf("%v %v", res, err)
			}
		})
	}
	wait.Wait()
	if n := second.calls.Load(); n != 8 {
		t.Errorf("8 calls were done %d times", n)
	}
}

// Some servers say 400 and not 404 to a session that they do not know.
func TestASessionThatIsForgotten(t *testing.T) {
	f := newFixture()
	var forget, initialised atomic.Bool
	srv := f.listen(t, "127.0.0.1:0", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
				forget.Store(false)
				initialised.Store(true)
			}
			if forget.Load() && r.Method == http.MethodPost {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`))
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	s := open(t, Options{}, "MCP_SERVER_X="+srv.URL).Server("x")
	echo := find(t, s, "echo")
	forget.Store(true)
	res, err := echo.Call(t.Context(), tool.Call{Arguments: []byte(`{"text":"again"}`)})
	if err != nil || res.Content != "again" || f.calls.Load() != 1 {
		t.Errorf("%v %v, %d calls", res, err, f.calls.Load())
	}
}

// A call that was under way when the server went away is not done twice.
func TestAServerThatGoesAwayInMidCall(t *testing.T) {
	f := newFixture()
	srv := f.overHTTP(t)
	s := open(t, Options{}, "MCP_SERVER_X="+srv.URL).Server("x")
	slow := find(t, s, "slow")
	// A stream that nobody can resume ends the call at once.
	go func() {
		<-f.waiting
		srv.CloseClientConnections()
	}()
	_, err := slow.Call(t.Context(), tool.Call{})
	var known *tool.Error
	if !errors.As(err, &known) || !strings.Contains(known.Message, "may or may not have been done") {
		t.Errorf("got %v", err)
	}
	if f.calls.Load() != 1 {
		t.Errorf("the call was done %d times", f.calls.Load())
	}
	f.end()
	if got := says(t, s, "echo", `{"text":"next"}`); got != "next" {
		t.Error(got)
	}
}

// A server that is down is asked once in a while, not by everybody.
func TestAServerThatIsDown(t *testing.T) {
	f := newFixture()
	srv := f.overHTTP(t)
	kill(srv)
	s := open(t, Options{}, "MCP_SERVER_X="+srv.URL).Server("x")
	_, first := s.Tools(t.Context())
	_, second := s.Tools(t.Context())
	if first == nil || first != second || first.Error() != "the MCP server x is down: nobody answers at its address" {
		t.Errorf("%v / %v", first, second)
	}
}

func TestAServerThatIsNone(t *testing.T) {
	for want, h := range map[string]http.HandlerFunc{
		"the MCP server x answers, but not as an MCP server does: check its address": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>welcome</html>"))
		},
		"the MCP server x is down: it answers with status 404": http.NotFound,
		"the MCP server x is down: it answers with status 503": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	} {
		s := open(t, Options{}, "MCP_SERVER_X="+serve(t, "127.0.0.1:0", h).URL).Server("x")
		if _, err := s.Tools(t.Context()); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestAServerThatIsSilent(t *testing.T) {
	stop := make(chan struct{})
	srv := serve(t, "127.0.0.1:0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}))
	defer close(stop)
	s := open(t, Options{ConnectTimeout: 100 * time.Millisecond}, "MCP_SERVER_X="+srv.URL).Server("x")
	if _, err := s.Tools(t.Context()); err == nil || err.Error() != "the MCP server x did not answer within 100ms" {
		t.Errorf("got %v", err)
	}
}

// program is a server that is this test program.
func program(t *testing.T, o Options) tool.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	src := `{"mcpServers": {"prog": {"command": "` + self + `", "args": [], "env": {"` + childEnv + `": "1", "GIVEN": "${SECRET_KEY}"}}}}`
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	o.ConfigFile = file
	o.Getenv = func(name string) string {
		if name == "SECRET_KEY" {
			return "key"
		}
		return os.Getenv(name)
	}
	return open(t, o).Server("prog")
}

func TestAProgram(t *testing.T) {
	s := program(t, Options{})
	if got := says(t, s, "echo", `{"text":"hello"}`); got != "hello" {
		t.Error(got)
	}
	// It gets what the file gives it, and nothing else of p8's.
	if got := says(t, s, "environment", `{}`); got != "/key" {
		t.Errorf("the program sees %q", got)
	}
	die := find(t, s, "die")
	_, err := die.Call(t.Context(), tool.Call{})
	var known *tool.Error
	if !errors.As(err, &known) || known.Message != "the MCP server prog broke off the connection; what was asked for may or may not have been done" {
		t.Errorf("got %v", err)
	}
	if got := says(t, s, "echo", `{"text":"again"}`); got != "again" {
		t.Error(got)
	}
	model := &sampler{name: "m"}
	res, err := find(t, s, "ask").Call(tool.WithSampler(t.Context(), model), tool.Call{Arguments: []byte(`{"text":"hi"}`)})
	if err != nil || res.Content != "m says hi!" {
		t.Errorf("%v %v", res, err)
	}
}

func TestAnIdleProgramIsEnded(t *testing.T) {
	s := program(t, Options{IdleTimeout: 20 * time.Millisecond})
	says(t, s, "echo", `{"text":"hello"}`)
	remote, _ := s.(*server)
	remote.mu.Lock()
	shared := remote.shared
	remote.mu.Unlock()
	if shared != nil {
		within(t, shared.ctx.Done(), "the end of the connection")
	}
	if got := says(t, s, "echo", `{"text":"again"}`); got != "again" {
		t.Error(got)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":{"a":{"command":"no-such-program-p8"},"b":{"command":"false"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{ConfigFile: file, Getenv: os.Getenv})
	for name, want := range map[string]string{
		"a": "the MCP server a cannot be started: its command was not found",
		"b": "the MCP server b ended before it was ready",
	} {
		if _, err := s.Server(name).Tools(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCloseEndsCalls(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL)
	slow := find(t, s.Server("x"), "slow")
	go func() {
		<-f.waiting
		s.cancel() // what Close does first
		f.end()
		_ = s.Close()
	}()
	var known *tool.Error
	if _, err := slow.Call(t.Context(), tool.Call{}); !errors.As(err, &known) || known.Message != "p8 is stopping" {
		t.Errorf("got %v", err)
	}
	if _, err := s.Server("x").Tools(t.Context()); !errors.As(err, &known) {
		t.Errorf("after Close: %v", err)
	}
}

// What only reads is asked for again although it may have arrived: a server that
// goes away under a list does not cost its tools.
func TestAServerThatGoesAwayInAList(t *testing.T) {
	f := newFixture()
	var cut atomic.Int64
	srv := f.listen(t, "127.0.0.1:0", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			reads := bytes.Contains(body, []byte(`"tools/list"`)) || bytes.Contains(body, []byte(`"resources/read"`))
			if reads && cut.Add(1)%2 == 1 {
				panic(http.ErrAbortHandler)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(w, r)
		})
	})
	s := open(t, Options{}, "MCP_SERVER_X="+srv.URL).Server("x")
	if tools, err := s.Tools(t.Context()); err != nil || len(tools) == 0 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	if found, err := s.Read(t.Context(), "notes://one"); err != nil || len(found) != 1 || found[0].Text != "first" {
		t.Errorf("%v %v", found, err)
	}
	model := &sampler{name: "m"}
	if tools, err := s.Tools(tool.WithSampler(t.Context(), model)); err != nil || len(tools) == 0 {
		t.Errorf("with sampling: %d tools, %v", len(tools), err)
	}
}
