package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/p8-org/p8/tool"
)

// A server that restarts at its address is found again, and the call that finds it is made
// once.
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

// Some servers answer 400, not 404, to an unknown session.
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

// A call that was under way when the server died is not repeated.
func TestAServerThatGoesAwayInMidCall(t *testing.T) {
	f := newFixture()
	srv := f.overHTTP(t)
	s := open(t, Options{}, "MCP_SERVER_X="+srv.URL).Server("x")
	slow := find(t, s, "slow")
	// A stream that cannot be resumed ends the call at once.
	go func() {
		<-f.waiting
		srv.CloseClientConnections()
	}()
	_, err := slow.Call(t.Context(), tool.Call{})
	var known *tool.Error
	if !errors.As(err, &known) || !strings.Contains(known.Message, "may or may not have taken effect") {
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

// A server that is down is tried only now and then, by one caller.
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

// A connection attempt that takes the whole timeout is not repeated at every turn.
func TestPauses(t *testing.T) {
	s, _ := open(t, Options{}, "MCP_SERVER_X=http://127.0.0.1:1").Server("x").(*server)
	for _, c := range []struct{ took, least, most time.Duration }{
		{0, 200 * time.Millisecond, 250 * time.Millisecond}, {0, 400 * time.Millisecond, 500 * time.Millisecond},
		{4 * time.Second, 11 * time.Second, 13 * time.Second}, {time.Minute, 29 * time.Second, 30 * time.Second},
	} {
		s.failedWith(nil, time.Now().Add(-c.took))
		if pause := time.Until(s.until); pause < c.least || pause > c.most {
			t.Errorf("after %s: %s", c.took, pause)
		}
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

func TestCloseEndsCalls(t *testing.T) {
	f := newFixture()
	s := open(t, Options{}, "MCP_SERVER_X="+f.overHTTP(t).URL)
	slow := find(t, s.Server("x"), "slow")
	go func() {
		<-f.waiting
		s.cancel() // what Close does first
	}()
	var known *tool.Error
	if _, err := slow.Call(t.Context(), tool.Call{}); !errors.As(err, &known) || known.Message != "p8 is stopping" {
		t.Errorf("got %v", err)
	}
	f.end() // not before: the call would have its result
	_ = s.Close()
	if _, err := s.Server("x").Tools(t.Context()); !errors.As(err, &known) {
		t.Errorf("after Close: %v", err)
	}
}

// A request that only reads is repeated although it may have arrived: a server that
// restarts during a list keeps its tools.
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

// A connection with sampling whose idle time ends just when a call takes it is closed, not
// leaked.
func TestSamplerTakenTooLate(t *testing.T) {
	s := open(t, Options{}, "MCP_SERVER_X="+newFixture().overHTTP(t).URL).Server("x")
	remote, _ := s.(*server)
	p := &remote.samplers
	first, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.give(first, false)
	p.mu.Lock()
	p.idle[0].timer.Stop() // as if it had fired, and forget waited for the lock
	p.mu.Unlock()
	second, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.forget(first)
	p.give(second, true)
	if first == second {
		t.Error("a connection was taken after its time")
	}
	<-first.ctx.Done()
}
