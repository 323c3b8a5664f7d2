package title

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, tc := range []struct{ said, want string }{
		{"A weekend in Rome", "A weekend in Rome"},
		{"\n A weekend\r\n\tin  Rome\x00\x1b[31m ", "A weekend in Rome[31m"},
		{`"A weekend in Rome"`, "A weekend in Rome"},
		{"«Ein Wochenende in „Rom“»", "Ein Wochenende in Rom"},
		{"「ローマの週末」", "ローマの週末"},
		{"'Ada's trip'", "Ada's trip"},
		{"`go vet` and C#", "go vet and C#"},
		{"Rome\u202e\u2066 by night", "Rome by night"}, // no text turns the list around
		{strings.Repeat("seven s ", 20), strings.TrimSpace(strings.Repeat("seven s ", 7))},
		{strings.Repeat("語", 100), strings.Repeat("語", 60)},
		{strings.Repeat("a", 60) + " b", strings.Repeat("a", 60)},
		{strings.Repeat("a", 20) + " " + strings.Repeat("b", 30) + ", and more", strings.Repeat("a", 20) + " " + strings.Repeat("b", 30) + ", and"},
		{"bad \xff bytes", "bad \uFFFD bytes"},
		{"", ""}, {" \n\u200d\u200c", ""}, {`"…"`, ""}, {"'''", ""},
	} {
		if got := clean(tc.said); got != tc.want {
			t.Errorf("clean(%q)\n got %q\nwant %q", tc.said, got, tc.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add(`"Rome" at 'night'`)
	f.Fuzz(func(t *testing.T, said string) {
		got := clean(said)
		if utf8.RuneCountInString(got) > maxTitle || strings.ContainsAny(got, quotes+"\n\x00") || got != strings.TrimSpace(got) {
			t.Errorf("%q becomes %q", said, got)
		}
	})
}
