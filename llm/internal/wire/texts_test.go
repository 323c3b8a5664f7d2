package wire

import (
	"strings"
	"testing"
)

func TestTextsStayAsTheyWere(t *testing.T) {
	var kept Texts
	var want, got []string
	for i := range 2000 {
		s := strings.Repeat(string(rune('a'+i%26)), i*7%1200)
		want, got = append(want, s), append(got, kept.Keep([]byte(s)))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("text %d of %d bytes became %q", i, len(want[i]), got[i])
		}
	}
}
