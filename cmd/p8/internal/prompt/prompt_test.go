package prompt

import (
	"slices"
	"testing"
)

func TestComplete(t *testing.T) {
	words := []string{"LOOKUP", "LIMIT", "LOAD", "resources"}
	for _, tt := range []struct {
		line  string
		at    int
		begin int
		found []string
	}{
		{"lo", 2, 0, []string{"LOAD", "LOOKUP"}},
		{"SEARCH é FROM re WHERE", 17, 15, []string{"resources"}},
		{"LOOKUP ", 7, 7, nil},
		{"LOOKUP", 6, 0, []string{"LOOKUP"}},
		{"x", 1, 0, nil},
	} {
		begin, found := complete(tt.line, tt.at, words)
		if begin != tt.begin || !slices.Equal(found, tt.found) {
			t.Errorf("%q at %d: %d, %q", tt.line, tt.at, begin, found)
		}
	}
}
