package prompt

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// The bounds of a history file.
const (
	historyEntries = 1000
	historyEntry   = 8 << 10
	historyBytes   = 1 << 20
)

// History is a file of typed lines, one entry a line. Only its owner can read it, since
// questions are private.
type History struct{ Path string }

// Load returns the newest entries, and truncates a file that has more.
func (h History) Load() []string {
	if h.Path == "" {
		return nil
	}
	f, err := os.Open(h.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > historyBytes {
		_, _ = f.Seek(-historyBytes, io.SeekEnd)
	}
	raw, _ := io.ReadAll(io.LimitReader(f, historyBytes))
	decode := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	var entries []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(string(raw), ""), "\n") {
		if line != "" {
			entries = append(entries, show.Visible(decode.Replace(line)))
		}
	}
	if len(entries) > historyEntries {
		entries = entries[len(entries)-historyEntries:]
		h.rewrite(entries)
	}
	return entries
}

// add appends an entry. It creates the folder if necessary and ignores failures.
func (h History) add(entry string) {
	if h.Path == "" || len(entry) > historyEntry || os.MkdirAll(filepath.Dir(h.Path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(h.Path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(historyLine(entry))
	f.Close()
}

func (h History) rewrite(entries []string) {
	var b bytes.Buffer
	for _, e := range entries {
		b.WriteString(historyLine(e))
	}
	next := h.Path + ".new"
	if os.WriteFile(next, b.Bytes(), 0o600) == nil && os.Rename(next, h.Path) != nil {
		_ = os.Remove(next)
	}
}

func historyLine(entry string) string {
	return strings.ReplaceAll(strings.ReplaceAll(entry, `\`, `\\`), "\n", `\n`) + "\n"
}

// Remember adds an entry to an editor and, unless it repeats the last one, to the file.
func (h History) Remember(e *term.Editor, entry string) {
	if e.Remember(entry) {
		h.add(entry)
	}
}
