package sqlgate

import (
	"strings"
	"testing"
	"time"
)

// FuzzScan: the tokens keep the order of the text, and none has a character that no engine
// may get.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`SELECT "a b", 'o''brien', 1.5e-3 -- x`, "/* /* */ */ a||b", `tags?|ARRAY['a']`, "E'x'", "$$", "a\x00b", "'\xff'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := scan(text)
		if err != nil {
			if err.at < 0 || err.at > len(text) || err.problem == "" {
				t.Fatalf("%q: a mistake at %d: %q", text, err.at, err.problem)
			}
			return
		}
		if last := tokens[len(tokens)-1]; last.kind != end || last.at != len(text) {
			t.Fatalf("%q ends with %+v", text, last)
		}
		at := -1
		for _, tok := range tokens {
			if tok.at <= at && tok.kind != end {
				t.Fatalf("%q: a token at %d follows one at %d", text, tok.at, at)
			}
			at = tok.at
			if strings.ContainsRune(tok.text, 0) || tok.kind == name && (tok.text == "" || len(tok.text) > 63) {
				t.Fatalf("%q: token %+v", text, tok)
			}
		}
	})
}

// FuzzInterval: an interval is so bounded that adding it to a time never overflows.
func FuzzInterval(f *testing.F) {
	for _, s := range []string{"7 days", "1 year 2 mons -3 hours", "12:30", "12:30:59", "90", "1 fortnight", "100000000 decades", "-99999999 weeks", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := intervalOf(0, text)
		if err != nil {
			return
		}
		if i.months > 120_000 || i.months < -120_000 || i.days > 4_000_000 || i.days < -4_000_000 {
			t.Fatalf("%q is %d months and %d days", text, i.months, i.days)
		}
	})
}

// FuzzParseTime: a parsed time is in UTC, has microseconds, and survives a round trip
// through SQLite's form.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026-02-01", "2026-02-01T03:04:05+02:00", "2026-02-01 03:04", "0001-01-01", "9999-12-31 23:59:59.9999999", "soon"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := ParseTime(text)
		if !ok {
			return
		}
		again, ok := ParseTime(at.Format(Layout))
		if !ok || !again.Equal(at) || at.Location() != time.UTC || at.Nanosecond()%1000 != 0 {
			t.Fatalf("%q is %s, read again %s, %v", text, at, again, ok)
		}
	})
}
