package main

import (
	"slices"
	"testing"
)

func TestComplete(t *testing.T) {
	words := []string{"LOOKUP", "LIMIT", "LOAD", "resources"}
	for _, tt := range []struct {
		line       string
		at         int
		head, tail string
		found      []string
	}{
		{"lo", 2, "", "", []string{"LOAD", "LOOKUP"}},
		{"SEARCH é FROM re WHERE", 16, "SEARCH é FROM ", " WHERE", []string{"resources"}},
		{"LOOKUP ", 7, "LOOKUP ", "", nil},
		{"LOOKUP", 6, "", "", nil},
		{"x", 9, "", "", nil},
	} {
		head, found, tail := complete(tt.line, tt.at, words)
		if head != tt.head || tail != tt.tail || !slices.Equal(found, tt.found) {
			t.Errorf("%q at %d: %q, %q, %q", tt.line, tt.at, head, found, tail)
		}
	}
}
