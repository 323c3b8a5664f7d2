package stream

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// SSEOptions are the timeouts of a connection.
type SSEOptions struct {
	// Heartbeat is the silence after which a comment is sent; 15 s when 0, never when
	// negative.
	Heartbeat time.Duration
	// WriteTimeout is how long one write waits for a client that does not read; 30 s
	// when 0.
	WriteTimeout time.Duration
	// Gather sends frames only when Flush is called or some kilobytes have come
	// together, for a writer that knows when there is nothing more to write.
	Gather bool
}

// SSE is the server's end of a stream of server-sent events. Every Write is flushed,
// unless Gather is set. After the first failure all writes fail. Write and Close are
// for one goroutine; the heartbeat has its own.
type SSE struct {
	o    SSEOptions
	w    io.Writer
	ctl  *http.ResponseController
	tick *time.Timer

	mu       sync.Mutex
	gathered bool      // frames were written and not flushed
	last     time.Time // of the last write
	deadline time.Time // of the connection's writes
	err      error
}

var errClosed = errors.New("stream: write after close")

// NewSSE sends the headers of an event stream with status 200, so that the
// client's first byte does not wait for the model. Close must be called.
func NewSSE(w http.ResponseWriter, o SSEOptions) *SSE {
	if o.Heartbeat == 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &SSE{o: o, w: w, ctl: http.NewResponseController(w), last: time.Now()}
	s.extend(s.last)
	w.WriteHeader(http.StatusOK)
	s.err = s.flush()
	if o.Heartbeat > 0 {
		s.mu.Lock() // the timer may fire before the field is set
		s.tick = time.AfterFunc(o.Heartbeat, s.beat)
		s.mu.Unlock()
	}
	return s
}

// Write sends whole frames: at once, or with the next [SSE.Flush] if Gather is set.
func (s *SSE) Write(frames []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	return s.write(frames, !s.o.Gather)
}

// Flush sends the gathered frames.
func (s *SSE) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.gathered {
		s.gathered = false
		s.err = s.flush()
	}
}

func (s *SSE) write(frames []byte, now bool) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.extend(s.last)
	n, err := s.w.Write(frames)
	if s.gathered = !now; err == nil && now {
		err = s.flush()
	}
	s.err = err
	return n, err
}

// extend moves the deadline of the connection, not more often than needed.
func (s *SSE) extend(now time.Time) {
	if s.deadline.Sub(now) > s.o.WriteTimeout/2 {
		return
	}
	s.deadline = now.Add(s.o.WriteTimeout)
	// It fails only on a connection that has no deadlines.
	_ = s.ctl.SetWriteDeadline(s.deadline)
}

func (s *SSE) flush() error {
	if err := s.ctl.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// beat sends a comment after the heartbeat's silence.
func (s *SSE) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	now := time.Now()
	wait := s.o.Heartbeat - now.Sub(s.last)
	if wait <= 0 {
		s.last = now
		if _, err := s.write([]byte(": keep-alive\n\n"), true); err != nil {
			return
		}
		wait = s.o.Heartbeat
	}
	s.tick.Reset(wait)
}

// Close stops the heartbeat. The connection keeps its deadline: the server still has
// to write the end of the response. The next request must move it.
func (s *SSE) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tick != nil {
		s.tick.Stop()
	}
	if s.err == nil && s.gathered {
		_ = s.flush()
	}
	if s.err == nil {
		s.err = errClosed
	}
}

// Cut sends the gathered frames and breaks the connection without the end of the
// response, so that the client reconnects.
func (s *SSE) Cut() {
	s.Close()
	if conn, _, err := s.ctl.Hijack(); err == nil {
		_ = conn.Close()
		return
	}
	// HTTP/2 has no connection to take over: let its deadline pass.
	_ = s.ctl.SetWriteDeadline(time.Unix(1, 0))
}
