package sse

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	got, rest := Parse("\ufeff: hi\nevent: a\ndata: 1\ndata:2\nid: 7\n\nid: 8\n\ndata\n\nretry: 5\r\ndata: x\r\r: bye\n\nevent: cut\ndata: 9\n")
	want := []Event{{"a", "1\n2", "7"}, {"message", "", "8"}, {"message", "x", "8"}}
	if !slices.Equal(got, want) || rest != "event: cut\ndata: 9\n" {
		t.Errorf("%q %q", got, rest)
	}
}

func TestPython(t *testing.T) {
	got := Python("data: 1\n\n: comment\n\nid: 7\n\n: comment\n\ndata: a\u0085b\n\n")
	want := []Event{{"", "1", ""}, {"", "", "7"}, {"", "", "7"}, {"", "a", "7"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
