package stream_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/stream"
)

// client is a ResponseWriter that records flushes and may fail.
type client struct {
	*httptest.ResponseRecorder
	mu        sync.Mutex
	flushed   []string
	deadlines []time.Time
	err       error
}

func (c *client) seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.flushed)
}

func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func newClient() *client { return &client{ResponseRecorder: httptest.NewRecorder()} }

func (c *client) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	return c.ResponseRecorder.Write(b)
}

func (c *client) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushed = append(c.flushed, c.Body.String())
	c.Body.Reset()
	return c.err
}

func (c *client) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines = append(c.deadlines, t)
	return nil
}

func TestSSEHeadersGoOutAtOnce(t *testing.T) {
	c := newClient()
	s := stream.NewSSE(c, stream.SSEOptions{})
	defer s.Close()
	if len(c.flushed) != 1 || c.Code != http.StatusOK {
		t.Errorf("flushed %q, status %d", c.flushed, c.Code)
	}
	for name, want := range map[string]string{
		"Content-Type":      "text/event-stream; charset=utf-8",
		"Cache-Control":     "no-cache, no-store",
		"X-Accel-Buffering": "no",
	} {
		if got := c.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSSEHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		s := stream.NewSSE(c, stream.SSEOptions{Heartbeat: 15 * time.Second})
		time.Sleep(10 * time.Second)
		if _, err := s.Write([]byte("data: 1\n\n")); err != nil {
			t.Fatal(err)
		}
		// Silence counts from the last frame, not from the start.
		time.Sleep(14 * time.Second)
		synctest.Wait()
		if got := c.seen(); len(got) != 2 {
			t.Fatalf("%q", got)
		}
		time.Sleep(18 * time.Second)
		synctest.Wait()
		s.Close()
		time.Sleep(time.Hour)
		synctest.Wait()
		const beat = ": keep-alive\n\n"
		if got, want := strings.Join(c.seen()[1:], "|"), "data: 1\n\n|"+beat+"|"+beat; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if _, err := s.Write([]byte("x")); err == nil {
			t.Error("a closed connection was written to")
		}
	})
}

func TestSSENoHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		s := stream.NewSSE(c, stream.SSEOptions{Heartbeat: -1})
		time.Sleep(time.Hour)
		s.Close()
		if len(c.flushed) != 1 {
			t.Errorf("%q", c.flushed)
		}
	})
}

// TestSSEFailureLasts: after the client has gone, nothing is written, not even the
// heartbeat.
func TestSSEFailureLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		s := stream.NewSSE(c, stream.SSEOptions{})
		defer s.Close()
		c.fail(errors.New("gone"))
		time.Sleep(16 * time.Second) // the heartbeat is the first to notice
		synctest.Wait()
		c.fail(nil)
		if _, err := s.Write([]byte("x")); err == nil || c.Body.Len() > 0 {
			t.Errorf("%v, %q", err, c.Body)
		}
	})
}

// TestSSEDeadline: a client that does not read is dropped; the deadline moves with the
// stream, not with every frame.
func TestSSEDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient()
		start := time.Now()
		s := stream.NewSSE(c, stream.SSEOptions{WriteTimeout: 30 * time.Second})
		for range 20 {
			_, _ = s.Write([]byte("x"))
			time.Sleep(time.Second)
		}
		s.Close()
		var got []time.Duration
		for _, d := range c.deadlines {
			got = append(got, d.Sub(start))
		}
		if len(got) != 2 || got[0] != 30*time.Second || got[1] != 45*time.Second {
			t.Errorf("deadlines after %v", got)
		}
	})
}

// TestGather: frames that are written together are sent together, at the latest when the
// connection closes.
func TestGather(t *testing.T) {
	c := newClient()
	s := stream.NewSSE(c, stream.SSEOptions{Gather: true})
	before := len(c.seen())
	for range 3 {
		if _, err := s.Write([]byte("data: x\n\n")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.seen()); n != before {
		t.Errorf("%d flushes before Flush", n-before)
	}
	s.Flush()
	s.Flush()
	if n := len(c.seen()); n != before+1 {
		t.Errorf("%d flushes after Flush", n-before)
	}
	_, _ = s.Write([]byte("data: y\n\n"))
	s.Close()
	if n := len(c.seen()); n != before+2 {
		t.Errorf("%d flushes after Close", n-before)
	}
}
