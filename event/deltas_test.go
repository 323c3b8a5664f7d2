package event_test

import (
	"testing"

	"github.com/p8-org/p8/event"
)

func TestDeltas(t *testing.T) {
	var d event.Deltas
	for _, step := range []struct{ add, want string }{
		{"", ""}, {"a", "a"}, {"", "a"}, {"b", "ab"}, {"", "ab"}, {"c", "abc"},
	} {
		if d.Add(step.add); d.String() != step.want {
			t.Errorf("after %q it is %q, want %q", step.add, d.String(), step.want)
		}
	}
	d.Reset()
	if d.Add("x"); d.String() != "x" {
		t.Errorf("after Reset it is %q", d.String())
	}
	if n := testing.AllocsPerRun(100, func() {
		var one event.Deltas
		one.Add("in one piece")
		_ = one.String()
	}); n != 0 {
		t.Errorf("one piece costs %v allocations", n)
	}
}
