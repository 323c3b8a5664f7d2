package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	h := History{filepath.Join(t.TempDir(), "data", "chat_history")}
	if got := h.Load(); got != nil {
		t.Errorf("%q", got)
	}
	entries := []string{"plain", "two\nlines", `a \n that is typed`, `\\`, "日本"}
	for _, e := range entries {
		h.add(e)
	}
	h.add(strings.Repeat("x", historyEntry+1)) // too long
	if got := h.Load(); !slices.Equal(got, entries) {
		t.Errorf("%q, want %q", got, entries)
	}
	for i := range 2 * historyEntries {
		h.add(fmt.Sprint(i))
	}
	if got := h.Load(); len(got) != historyEntries || got[len(got)-1] != fmt.Sprint(2*historyEntries-1) {
		t.Errorf("%d entries", len(got))
	}
	if b, err := os.ReadFile(h.Path); err != nil || strings.Count(string(b), "\n") != historyEntries {
		t.Errorf("the file is not shortened: %v", err)
	}
	nothing := History{}
	nothing.add("x")
	if nothing.Load() != nil {
		t.Error("a history without a file")
	}
}
