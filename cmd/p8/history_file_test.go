package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	h := history{filepath.Join(t.TempDir(), "data", "chat_history")}
	if got := h.load(); got != nil {
		t.Errorf("%q", got)
	}
	entries := []string{"plain", "two\nlines", `a \n that is typed`, `\\`, "日本"}
	for _, e := range entries {
		h.add(e)
	}
	h.add(strings.Repeat("x", historyEntry+1)) // too long
	if got := h.load(); !slices.Equal(got, entries) {
		t.Errorf("%q, want %q", got, entries)
	}
	for i := range 2 * historyEntries {
		h.add(fmt.Sprint(i))
	}
	if got := h.load(); len(got) != historyEntries || got[len(got)-1] != fmt.Sprint(2*historyEntries-1) {
		t.Errorf("%d entries", len(got))
	}
	if b, err := os.ReadFile(h.path); err != nil || strings.Count(string(b), "\n") != historyEntries {
		t.Errorf("the file is not shortened: %v", err)
	}
	nothing := history{}
	nothing.add("x")
	if nothing.load() != nil {
		t.Error("a history without a file")
	}
}
