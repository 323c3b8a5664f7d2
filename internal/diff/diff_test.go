package diff_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/internal/diff"
)

func TestLines(t *testing.T) {
	const poem = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	for _, tc := range []struct{ name, a, b, want string }{
		{"equal", poem, poem, ""},
		{"changed", poem, strings.Replace(poem, "four", "vier", 1), "@@ 3\n  three\n- four\n+ vier\n  five\n"},
		{"two places", poem, strings.NewReplacer("one\n", "", "seven", "sept").Replace(poem), "- one\n  two\n@@ 6\n  six\n- seven\n+ sept\n"},
		{"from nothing", "", "one\ntwo\n", "+ one\n+ two\n"},
		{"to nothing", "one\n", "", "- one\n"},
		{"the last end of line", "one\ntwo\n", "one\ntwo", "  one\n- two\n+ two (no end of line)\n"},
		{"moved", "a\nb\nc\n", "c\na\nb\n", "+ c\n  a\n  b\n- c\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := diff.Lines(tc.a, tc.b, 1); got != tc.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
}

// TestLinesLead: with all equal lines shown, the removed and equal lines are the first text,
// the added and equal ones the second.
func TestLinesLead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "- d", ""}), 1, 12).Draw(t, "lines")
			return strings.Join(lines, "\n") + "\n"
		})
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		var first, second strings.Builder
		for line := range strings.Lines(diff.Lines(a, b, 100)) {
			if line[0] != '+' {
				first.WriteString(line[2:])
			}
			if line[0] != '-' {
				second.WriteString(line[2:])
			}
		}
		if a != b && (first.String() != a || second.String() != b) {
			t.Fatalf("%q and %q lead to %q and %q", a, b, first.String(), second.String())
		}
	})
}
