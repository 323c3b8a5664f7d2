package mcp

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/internal/signin"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// After a failed attempt to connect p8 waits before the next, longer each time: a
// server that only restarts is found at once, one that is down costs little.
const (
	firstPause = 250 * time.Millisecond
	maxPause   = 8 * time.Second
	maxSilence = 30 * time.Second
)

// resumes is how often a broken stream is resumed before its call fails: a server has
// about 3 s to come back.
const resumes = 2

// server is one MCP server: the shared connection, and those of calls with sampling.
type server struct {
	all   *Servers
	entry *entry
	log   *slog.Logger
	// access is nil if the headers of the configuration are all that the server gets.
	access access
	// samplers are the connections of calls with sampling.
	samplers pool
	// unusable maps the tools that are left out to the reason.
	unusable atomic.Pointer[map[string]string]
	alone    alone

	mu sync.Mutex
	// kind is the transport that worked, if the configuration names none.
	kind   string
	shared *session
	users  int
	idle   *time.Timer
	dial   *dial
	failed error
	until  time.Time
	// failures counts the failed attempts since the last success.
	failures int
	closed   bool
}

// dial is an attempt to connect; all callers that need the server wait for it.
type dial struct {
	done chan struct{}
	err  error
}

func newServer(all *Servers, e *entry) *server {
	s := &server{all: all, entry: e, kind: e.kind, log: all.o.Logger.With("mcp_server", e.name)}
	s.samplers.init(s)
	if e.oauth != nil && e.url != nil && !e.oauth.asksPerson {
		s.access = &oauth{entry: e.oauth, server: e.url, client: signin.Client(all.base), ctx: all.ctx}
	}
	return s
}

func (s *server) transport() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kind
}

func (s *server) remember(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kind = kind
}

func (s *server) makeTransport(kind string) sdk.Transport {
	if kind == kindStdio {
		return stdio(s.entry, s.all.o.Getenv, s.log)
	}
	t := &httpTransport{base: telemetry.Transport(s.all.base), origin: s.entry.url, headers: s.entry.headers, access: s.access, sse: kind == kindSSE}
	if kind == kindSSE {
		return &sdk.SSEClientTransport{Endpoint: s.entry.url.String(), HTTPClient: t.client()}
	}
	return &sdk.StreamableClientTransport{Endpoint: s.entry.url.String(), HTTPClient: t.client(), MaxRetries: resumes}
}

// stopping returns the error of everything after Close.
func stopping() error { return &tool.Error{Message: "p8 is stopping"} }

// acquire returns the shared connection, and connects if the server has no connection.
// Concurrent callers wait for the same attempt; after a recent failure they get its error at
// once. release gives the connection back.
func (s *server) acquire(ctx context.Context) (*session, error) {
	const most = 3 // a connection may end as soon as it is made
	var last error
	for range most {
		sess, d, err := s.current()
		if sess != nil || err != nil {
			return sess, err
		}
		select {
		case <-d.done:
			if d.err != nil {
				return nil, d.err
			}
			last = d.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if last == nil {
		last = s.errorf("ends every connection as soon as it is made")
	}
	return nil, last
}

// current returns the connection, the attempt under way to make it, or the error of a recent
// attempt.
func (s *server) current() (*session, *dial, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, stopping()
	case s.shared != nil && !s.shared.over():
		s.users++
		if s.idle != nil {
			s.idle.Stop()
		}
		return s.shared, nil, nil
	case s.dial != nil:
		return nil, s.dial, nil
	case s.failed != nil && time.Now().Before(s.until):
		return nil, nil, s.failed
	}
	s.shared, s.users = nil, 0
	d := &dial{done: make(chan struct{})}
	s.dial = d
	s.all.work.Go(func() { s.connect(d) })
	return nil, d, nil
}

func (s *server) connect(d *dial) {
	since := time.Now()
	sess, err := s.open(s.all.ctx, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	d.err, s.dial = err, nil
	switch {
	case err != nil:
		s.failedWith(err, since)
	case s.closed:
		d.err = stopping()
		s.all.work.Go(sess.end)
	default:
		s.failed, s.failures, s.shared, s.users = nil, 0, sess, 0
	}
	close(d.done)
}

// failedWith records a failed attempt that began at since; s.mu is held. An attempt
// without any answer costs the whole connect timeout, so the pauses are longer than
// that.
func (s *server) failedWith(err error, since time.Time) {
	pause := max(min(firstPause<<min(s.failures, 10), maxPause), min(3*time.Since(since), maxSilence))
	s.failed, s.until = err, time.Now().Add(pause)
	s.failures++
}

// retry ends the pause after a failed attempt, once the cause of the failure is gone.
func (s *server) retry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed, s.failures = nil, 0
}

// release gives the connection back; a lost one is not used again.
func (s *server) release(sess *session, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared != sess {
		return
	}
	s.users--
	switch {
	case lost:
		s.drop()
	case s.users == 0 && !s.closed:
		if s.idle != nil {
			s.idle.Stop()
		}
		s.idle = time.AfterFunc(s.all.o.IdleTimeout, func() { s.unused(sess) })
	}
}

// unused ends an idle connection.
func (s *server) unused(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == sess && s.users == 0 && !s.closed {
		s.drop()
	}
}

// drop ends the shared connection in the background, once its users are done.
func (s *server) drop() {
	if s.idle != nil {
		s.idle.Stop()
	}
	sess := s.shared
	s.shared, s.users = nil, 0
	s.all.work.Go(sess.end)
}

// end ends the connection.
func (s *session) end() {
	_ = s.cs.Close()
	s.cancel()
}

// close ends all connections to the server.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	sess := s.shared
	s.shared = nil
	if s.idle != nil {
		s.idle.Stop()
	}
	s.mu.Unlock()
	s.samplers.close()
	if sess != nil {
		sess.end()
	}
}
