package wire

import (
	"bytes"
	"io"
	"time"
)

// quiet is a body whose reads fail when the provider has been silent for too long. Only
// the time spent reading counts, not that of the consumer of the chunks. Only
// [quiet.alive] ends a silence, because many servers keep a connection open with
// comments although the model behind them is gone.
type quiet struct {
	io.Reader
	timer *time.Timer
	// idle is the longest silence, left the rest of it.
	idle, left time.Duration
	// raw is set if the body is not an event stream: every byte but white space ends
	// the silence.
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

// alive ends a silence. It does nothing on the nil quiet of a replay.
func (q *quiet) alive() {
	if q != nil {
		q.left = q.idle
	}
}

// plain notes that the body is not an event stream.
func (q *quiet) plain() {
	if q != nil {
		q.raw = true
	}
}

// isPing recognises an event without content: Anthropic's {"type": "ping"}.
func isPing(data []byte) bool {
	const longest = 64
	return len(data) < longest && bytes.Contains(data, []byte(`"ping"`))
}
