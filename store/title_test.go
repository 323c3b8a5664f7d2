package store_test

import (
	"testing"

	"github.com/p8-org/p8/store"
)

func TestCleanTitle(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		" \n\t ":                     "",
		"  A trip\r\n to\u00a0Rome ": "A trip to Rome",
		"a\x00b\x1b[31mc\u202ed":     "ab[31mcd",
		"\xff":                       "\uFFFD",
		"👨\u200d👩\u200d👧 Größe 日本": "👨\u200d👩\u200d👧 Größe 日本",
	} {
		if got := store.CleanTitle(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
