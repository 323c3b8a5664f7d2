package evals

import (
	"strings"
	"testing"
	"time"
)

// TestRefusals: outside a terminal, a line every half minute says that a provider refuses.
func TestRefusals(t *testing.T) {
	var out strings.Builder
	now := time.Now()
	p := &progress{out: &out, now: func() time.Time { return now }, begun: now}
	for range 7 {
		p.refused("openai:gpt-4.1", 10*time.Second)
		now = now.Add(10 * time.Second)
	}
	if want := strings.Repeat("p8: openai:gpt-4.1 refuses requests: waiting 10s\n", 3); out.String() != want {
		t.Error(out.String())
	}
}
