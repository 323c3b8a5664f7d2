package run

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRepeats(t *testing.T) {
	for _, tc := range []struct{ name, child, parent, want string }{
		{"the same", "It was Guido. He is Dutch.", "He is Dutch. It was Guido.", ""},
		{"other marks", "It was Guido.", "**It was guido!**", ""},
		{"more in a sentence", "It was Guido.", "It was Guido, in 1991.", "It was Guido, in 1991."},
		{"a short answer", "Shall I say yes or no? Yes.", "Yes.", "Yes."},
		{"a list", "1. Apples\n2. Pears\n", "1. Apples\n2. Plums\n", "2. Plums\n"},
		{"no spaces", "它是海龟。它已经老了。", "它已经老了。它非常大。是的。", "它非常大。是的。"},
		{"a result", `{"output":"It is done.","text_response":"Let me look.\n\nIt is done."}`, "Let me look. It is done. Bye for now.", "Bye for now."},
		{"a long sentence", strings.Repeat("many words ", 300), strings.Repeat("many words ", 300), ""},
		{"nothing", "", "Hello there.", "Hello there."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var s repeats
				s.learn(tc.child)
				var got strings.Builder
				for rest := tc.parent; rest != ""; { // in pieces of any size
					n := rapid.IntRange(min(len(rest), 1+len(tc.parent)/100), len(rest)).Draw(t, "piece")
					got.WriteString(s.add(rest[:n]))
					rest = rest[n:]
				}
				got.WriteString(s.rest())
				if got.String() != tc.want {
					t.Errorf("%q, want %q", got.String(), tc.want)
				}
			})
		})
	}
}
