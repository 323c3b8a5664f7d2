package mcp

import (
	"sync/atomic"
	"time"
)

// aloneFor is how long a server gets one message at a time after its last question.
const aloneFor = 10 * time.Minute

// alone is set once a server has asked a question while it worked on several messages:
// from then on it gets one at a time, so that each question has one call. It stays set
// while no message is under way; otherwise the next calls would begin together, and their
// work before their questions would be repeated. It ends when the server has not asked
// for aloneFor.
type alone struct{ until atomic.Int64 }

// now reports whether the server gets one message at a time.
func (a *alone) now() bool { return time.Now().UnixNano() < a.until.Load() }

func (a *alone) begin() { a.until.Store(time.Now().Add(aloneFor).UnixNano()) }

// asked extends alone, because the server still asks.
func (a *alone) asked() {
	if a.now() {
		a.begin()
	}
}
