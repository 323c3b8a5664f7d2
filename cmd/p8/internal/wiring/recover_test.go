package wiring

import (
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// TestPulse: a process is dead if its beat has not changed for the grace while this process
// observed it. Time without observations does not count.
func TestPulse(t *testing.T) {
	p := pulse{own: "me", grace: 5 * time.Second, most: 2 * time.Second}
	now := time.Unix(0, 0)
	look := func(after time.Duration, other int64) int {
		now = now.Add(after)
		return len(p.dead([]store.Beat{{Process: "me", Count: 1}, {Process: "other", Count: other}}, now))
	}
	for i, step := range []struct {
		after time.Duration
		count int64
		dead  int
	}{
		{0, 1, 0}, {time.Second, 1, 0}, {time.Second, 2, 0}, // it beats, if slowly
		{time.Hour, 2, 0},   // no observation for an hour
		{time.Second, 2, 0}, // 3 s
		{time.Second, 2, 0}, // 4 s
		{time.Second, 2, 1}, // 5 s
		{time.Second, 3, 0}, // it beats again
		{2 * time.Second, 3, 0},
		{2 * time.Second, 3, 0},
		{2 * time.Second, 3, 1},
	} {
		if got := look(step.after, step.count); got != step.dead {
			t.Errorf("step %d: %d are dead, want %d", i, got, step.dead)
		}
	}
	if got := p.dead([]store.Beat{{Process: "me"}, {Process: "me"}}, now.Add(time.Hour)); len(got) != 0 {
		t.Errorf("%v are dead", got)
	}
}
