package feedback

import (
	"testing"
	"time"
)

// TestGate: a server that fails is left alone for longer and longer, until it answers.
func TestGate(t *testing.T) {
	var g gate
	now := time.Now()
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		if wait := g.enter(now); wait != 0 {
			t.Fatalf("waits %v", wait)
		}
		if wait := g.enter(now); wait < busyPause {
			t.Errorf("a second one waits %v", wait)
		}
		g.leave(now, true)
		if wait := g.enter(now); wait < want*time.Second || wait > 2*want*time.Second {
			t.Errorf("waits %v, want %d s to twice that", wait, want)
		}
		now = now.Add(want * time.Second)
	}
	g.enter(now)
	g.leave(now, false)
	if wait := g.enter(now); wait != 0 || g.pause != 0 {
		t.Errorf("after a success it waits %v", wait)
	}
}
