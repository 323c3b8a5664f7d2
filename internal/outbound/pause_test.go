package outbound_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			try       int
			asked     time.Duration
			low, high time.Duration
			ok        bool
		}{
			{0, 0, 250 * time.Millisecond, 500 * time.Millisecond, true},
			{3, 0, 2 * time.Second, 4 * time.Second, true},
			{100, 0, 4 * time.Second, 8 * time.Second, true},
			{0, 20 * time.Second, 20 * time.Second, 22 * time.Second, true},
			{0, time.Hour, 0, 0, false},
		} {
			start := time.Now()
			ok := outbound.Pause(t.Context(), tt.try, tt.asked)
			if took := time.Since(start); ok != tt.ok || took < tt.low || took > tt.high {
				t.Errorf("try %d, asked %s: %t after %s", tt.try, tt.asked, ok, took)
			}
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if outbound.Pause(short, 9, 0) || time.Since(start) > 0 {
			t.Error("a pause beyond the deadline is waited for")
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "-1": 0, "soon": 0, "1e9": 0} {
		if got := outbound.RetryAfter(http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	if got := outbound.RetryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}); got != 250*time.Millisecond {
		t.Errorf("milliseconds: %s", got)
	}
}
