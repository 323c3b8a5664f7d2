package store

import (
	"testing"
	"time"
)

// Failures are forgotten one by one, and a long attack is not felt for longer than a short one.
func TestDecay(t *testing.T) {
	l := LoginLimit{Free: 50, First: time.Second, Most: time.Minute, Decay: time.Minute}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		before, after int64
		passed, rest  time.Duration
	}{
		"none":                   {0, 0, time.Hour, 0},
		"at once":                {7, 7, 0, 0},
		"not yet":                {7, 7, 59 * time.Second, 59 * time.Second},
		"some, the rest stays":   {7, 5, 150 * time.Second, 30 * time.Second},
		"all":                    {7, 0, time.Hour, 0},
		"a long attack":          {100_000, 57, 0, 0},
		"after a long attack":    {100_000, 0, time.Hour, 0},
		"a clock that goes back": {7, 7, -time.Hour, -time.Hour},
	} {
		now := start.Add(c.passed)
		row := tries{n: c.before, at: start}
		row.decay(l, now)
		if row.n != c.after || now.Sub(row.at) != c.rest {
			t.Errorf("%s: %d failures, and %s", name, row.n, now.Sub(row.at))
		}
	}
	if l.pause(56) == l.Most || l.pause(57) != l.Most || l.pause(50) != 0 {
		t.Error("the pauses are", l.pause(50), l.pause(56), l.pause(57))
	}
}
