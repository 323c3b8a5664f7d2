package wire

import (
	"bytes"
	"io"
	"time"
)

// quiet is a body whose reads end when the provider has been silent for a while. Only
// the time that is spent reading counts, not that of the reader of the chunks; and only
// what [quiet.alive] is told of ends a silence, as many servers keep a connection open
// with comments although the model behind them is gone.
type quiet struct {
	io.Reader
	timer *time.Timer
	// idle is the longest silence, left what is left of it.
	idle, left time.Duration
	// raw: the body is no stream of events; whatever is not blank is life.
	raw bool
}

func newQuiet(body io.Reader, timer *time.Timer, idle time.Duration) *quiet {
	return &quiet{Reader: body, timer: timer, idle: idle, left: idle}
}

func (q *quiet) Read(p []byte) (int, error) {
	begun := time.Now()
	q.timer.Reset(q.left)
	n, err := q.Reader.Read(p)
	q.timer.Stop()
	q.left = max(q.left-time.Since(begun), 1)
	if q.raw && len(bytes.TrimSpace(p[:n])) > 0 {
		q.alive()
	}
	return n, err
}

// alive says that the provider has said something. A replay has no quiet.
func (q *quiet) alive() {
	if q != nil {
		q.left = q.idle
	}
}

// plain says that the body is no stream of events.
func (q *quiet) plain() {
	if q != nil {
		q.raw = true
	}
}

// isPing recognises an event that says nothing: Anthropic's {"type": "ping"}.
func isPing(data []byte) bool {
	const longest = 64
	return len(data) < longest && bytes.Contains(data, []byte(`"ping"`))
}
