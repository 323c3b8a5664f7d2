package sqlite

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
)

// pin is the context of a connection's statements. The log cannot be truncated while a
// running statement may read it; cut ends the statement.
type pin struct {
	context.Context
	// reads grows by one when a read begins and when it ends, so it is odd during a read.
	// cutRead is the read to end.
	reads, cutRead atomic.Int64
	// seen is the read that the checkpointer saw last, at is when it saw that read first.
	// Only the checkpointer uses them.
	seen int64
	at   time.Time
}

// begin returns the context for the next statement.
func (p *pin) begin(ctx context.Context) context.Context {
	p.Context = ctx
	if n := p.reads.Load(); n%2 == 0 {
		p.reads.Store(n + 1)
	}
	return p
}

// end marks the end of the connection's read.
func (p *pin) end() {
	if n := p.reads.Load(); n%2 == 1 {
		p.reads.Store(n + 1)
	}
}

// Err ends the statement when its context ends, or when it was cut.
func (p *pin) Err() error {
	if p.wasCut() {
		return errPinned
	}
	return p.Context.Err()
}

func (p *pin) wasCut() bool {
	n := p.cutRead.Load()
	return n != 0 && n == p.reads.Load()
}

// cut ends the running read if the checkpointer first saw it that long ago, and reports
// whether it did.
func (p *pin) cut(after time.Duration) bool {
	n := p.reads.Load()
	if n%2 == 0 {
		return false
	}
	if p.seen != n {
		p.seen, p.at = n, time.Now()
	}
	if time.Since(p.at) < after {
		return false
	}
	p.cutRead.Store(n)
	return true
}

var errPinned = errors.New("sqlite: a read was stopped, as it kept the write-ahead log from being emptied")

// explain maps the error of a cut statement to an UnavailableError.
func (p *pin) explain(err error) error {
	if err != nil && errors.Is(err, sqlite3.INTERRUPT) && p.wasCut() {
		return &store.UnavailableError{Reason: "the read took too long while others wrote much, and was stopped; try again, for less at once", Err: errPinned}
	}
	return err
}
