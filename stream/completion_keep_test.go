package stream_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// A Completion with a small limit keeps all of a short text and nothing of a long one.
func TestCompletionKeep(t *testing.T) {
	for text, dropped := range map[string]bool{"": false, strings.Repeat("x", 10): false, strings.Repeat("x", 11): true, strings.Repeat("x", 50): true} {
		c := stream.Completion{Keep: 10}
		for _, piece := range strings.Split(text, "") {
			c.Add(event.NewText(piece))
		}
		want := text
		if dropped {
			want = ""
		}
		if c.Text() != want || c.Dropped() != dropped {
			t.Errorf("of %d bytes: %q, dropped %t", len(text), c.Text(), c.Dropped())
		}
	}
}
