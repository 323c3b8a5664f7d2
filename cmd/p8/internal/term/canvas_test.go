package term_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/term/termtest"
)

func TestCanvas(t *testing.T) {
	s := termtest.New(20, 5)
	c := term.NewCanvas(s, s.Size)
	for _, step := range []struct {
		done, open []string
		want       string
	}{
		{nil, []string{"one", "status"}, "one\nstatus\n"},
		{nil, []string{"one two", "status"}, "one two\nstatus\n"},
		{[]string{"one two", ""}, []string{"日本", "status"}, "one two\n\n日本\nstatus\n"},
		{[]string{"日本"}, nil, "one two\n\n日本\n"},
		{nil, nil, "one two\n\n日本\n"},
	} {
		if err := c.Draw(step.done, step.open); err != nil {
			t.Fatal(err)
		}
		if got := s.String(); got != step.want {
			t.Errorf("the screen shows\n%swant\n%s", got, step.want)
		}
	}
}

// Done lines stay above the open ones, in order, also after they have scrolled off the
// screen; no line is drawn twice.
func TestCanvasKeepsEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 50 {
		s := termtest.New(30, 6)
		c := term.NewCanvas(s, s.Size)
		var all, open []string
		n := 0
		for range 40 {
			// Some of the open lines are complete, others are new.
			k := r.IntN(len(open) + 1)
			done := slices.Clone(open[:k])
			open = slices.Clone(open[k:])
			for range r.IntN(3) {
				n++
				open = append(open, fmt.Sprintf("line %d", n))
			}
			if len(open) > 5 { // they would leave the screen
				done, open = append(done, open[:len(open)-5]...), open[len(open)-5:]
			}
			all = append(all, done...)
			if err := c.Draw(done, open); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := strings.TrimSpace(s.String()), strings.TrimSpace(strings.Join(append(all, open...), "\n")); got != want {
			t.Fatalf("round %d: the screen shows\n%s\nwant\n%s", round, got, want)
		}
		if u := s.Unknown(); len(u) > 0 {
			t.Fatalf("%q", u)
		}
	}
}

// A line that did not change is not written again.
func TestCanvasIsCalm(t *testing.T) {
	var b bytes.Buffer
	c := term.NewCanvas(&b, func() (int, int) { return 80, 24 })
	_ = c.Draw(nil, []string{"first", "second", "third"})
	b.Reset()
	_ = c.Draw(nil, []string{"first", "other", "third"})
	if got := b.String(); strings.Contains(got, "first") || strings.Contains(got, "third") || !strings.Contains(got, "other") {
		t.Errorf("%q", got)
	}
	b.Reset()
	_ = c.Draw(nil, []string{"first", "other", "third"})
	if b.Len() > 0 {
		t.Errorf("nothing changed, and %q is written", b.String())
	}
}

func TestReturns(t *testing.T) {
	var b bytes.Buffer
	if n, err := io.WriteString(term.Returns{W: &b}, "a\nb\r\n"); n != 5 || err != nil || b.String() != "a\r\nb\r\n" {
		t.Errorf("%d, %v, %q", n, err, b.String())
	}
}
