package watch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
)

// file is a document as it was last read.
type file struct {
	path     string
	modified time.Time
	size     int64
	read     time.Time
	// text is what was read, until it is judged; sum identifies it.
	text []byte
	sum  [sha256.Size]byte
	// fault is why it could not be read, "" if it was.
	fault string
	// settled: two polls in a row saw this text. judged: own is about this text.
	settled, judged bool
	// missed: the last poll did not find the file.
	missed bool
	// own is the document as this file defines it, without a name; names are all names of
	// each agent. doc is the document as it was reported: another file may have its name.
	own, doc Document
	names    [][]string
}

// racy is how long the time of a file is not trusted: a file that is written twice within
// the resolution of its time may keep its time and its size.
const racy = 2 * time.Second

// look reads a file if it may have changed, and reports whether it is there.
func (f *Folder) look(name string) bool {
	path := filepath.Join(f.dir, name)
	info, err := os.Stat(path)
	if os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
		return false
	}
	old := f.files[name]
	if err == nil && old != nil && old.settled && old.modified.Equal(info.ModTime()) && old.size == info.Size() && old.read.Sub(old.modified) > racy {
		return true
	}
	next := &file{path: path, read: time.Now()}
	if err == nil {
		next.modified, next.size = info.ModTime(), info.Size()
		next.text, err = read(path)
	}
	switch {
	case os.IsNotExist(err):
		return false
	case err != nil:
		next.fault = "the file cannot be read"
	case len(next.text) > catalog.MaxBytes && !agent.Ordinary(name, next.text):
		next.text, next.fault = nil, "the document is larger than 1 MiB"
	}
	next.sum = sha256.Sum256(fmt.Appendf(next.text, "%s", next.fault))
	if old != nil {
		next.own, next.doc, next.names = old.own, old.doc, old.names
		if next.settled = old.sum == next.sum; next.settled && old.judged {
			next.judged, next.text = true, nil
		}
	}
	f.files[name] = next
	return true
}

// read returns a file, or a bit more than the largest document.
func read(path string) ([]byte, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, catalog.MaxBytes+1))
}

// judge checks the text.
func (f *file) judge(check Check) {
	f.own, f.names = Document{Path: f.path}, nil
	if f.fault != "" {
		f.own.Problems = agent.Problems{{Severity: agent.SeverityError, File: f.path, Message: f.fault}}
	} else {
		f.names, f.own.Problems = check(f.path, f.text)
	}
	if len(f.names) == 0 && len(f.own.Problems) == 0 {
		f.own = Document{}
	}
	f.judged, f.text = true, nil
}
