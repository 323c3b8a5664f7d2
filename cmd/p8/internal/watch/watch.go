// Package watch follows the documents of a folder while somebody writes them: which
// are new, changed and gone, and the mistakes of each.
//
// A folder is polled. That works on every file system, needs no handle per file, and
// sees an editor that writes a new file and renames it as one change.
package watch

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
)

// Check returns the names of each document in a file, and all problems. There are no names
// if the file cannot be used, and no problems either if it is no document.
type Check func(path string, src []byte) (names [][]string, problems agent.Problems)

// Document is a file of the folder with its documents.
type Document struct {
	// Path is the file. Name is the first of its Agents, "" if there are none.
	Path, Name string
	// Agents are all its agents that are used.
	Agents   []string
	Problems agent.Problems
}

// Change is a document that is new, changed or gone.
type Change struct {
	Document
	// Was is the agent's name before, "" if it had none.
	Was  string
	Gone bool
}

// Folder watches the documents in a folder, without its sub-folders, as the catalog reads
// them. It is not safe for concurrent use.
type Folder struct {
	dir   string
	above *catalog.Ranking
	check Check
	files map[string]*file
	left  int
}

// New returns the watcher of a folder. above has the documents that precede those of the
// folder. It has not read the folder yet.
func New(dir string, above *catalog.Ranking, check Check) *Folder {
	return &Folder{dir: dir, above: above, check: check, files: map[string]*file{}}
}

// Documents returns the documents as they were last reported, by file name.
func (f *Folder) Documents() []Document {
	var list []Document
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if d := f.files[name].doc; d.Path != "" {
			list = append(list, d)
		}
	}
	return list
}

// Left returns the number of documents beyond those that the catalog reads.
func (f *Folder) Left() int { return f.left }

// Scan reads the folder for the first time.
func (f *Folder) Scan() error {
	for range 2 { // a file is reported by the second poll that sees it
		if _, err := f.Poll(); err != nil {
			return err
		}
	}
	return nil
}

// Poll returns what has changed since the last poll. A change is reported by the second
// poll that sees it, so a file that is being written is not reported half. The error is
// that of the folder.
func (f *Folder) Poll() ([]Change, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	present := make(map[string]bool, len(entries))
	f.left = 0
	for _, e := range entries {
		switch {
		case !catalog.IsDocument(e.Name()):
		case len(present) == catalog.MaxFiles:
			f.left++
		case f.look(e.Name()):
			present[e.Name()] = true
		}
	}
	var gone []Change
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[name]
		switch {
		case present[name]:
			file.missed = false
		case !file.missed:
			file.missed = true // perhaps an editor is about to rename its new file
		default:
			delete(f.files, name)
			if file.doc.Path != "" {
				gone = append(gone, Change{Document: Document{Path: file.doc.Path}, Was: file.doc.Name, Gone: true})
			}
		}
	}
	return append(gone, f.changes()...), nil
}

// changes judges the settled files, and returns those that differ from the last report.
func (f *Folder) changes() []Change {
	var list []Change
	ranking := f.above.Fresh()
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[name]
		fresh := file.settled && !file.judged
		if fresh {
			file.judge(f.check)
		}
		was, next := file.doc, file.own
		for _, names := range file.names {
			used, warnings := ranking.Add(next.Path, names)
			next.Problems = slices.Concat(next.Problems, warnings)
			if used {
				next.Name = cmp.Or(next.Name, names[0])
				next.Agents = append(next.Agents, names[0])
			}
		}
		if next.Path == "" && was.Path != "" && fresh { // it is ordinary Markdown now
			file.doc = next
			list = append(list, Change{Document: Document{Path: was.Path}, Was: was.Name, Gone: true})
		}
		if next.Path != "" && (fresh || was.Problems.Detail() != next.Problems.Detail()) {
			file.doc = next
			list = append(list, Change{Document: next, Was: was.Name})
		}
	}
	return list
}

// Report is what a watcher has found.
type Report struct {
	Changes []Change
	// Err is why the folder cannot be read, once until it can be read again.
	Err error
}

// every is the time between two polls. A folder that takes long to read is polled less
// often: at most a tenth of the time is spent on it.
const every = 300 * time.Millisecond

// Watch polls until ctx ends, and sends what it finds. It closes out.
func (f *Folder) Watch(ctx context.Context, out chan<- Report) {
	defer close(out)
	broken := false
	for pause := every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		changes, err := f.Poll()
		pause = max(every, 9*time.Since(began))
		if len(changes) == 0 && (err == nil || broken) {
			broken = err != nil
			continue
		}
		broken = err != nil
		select {
		case out <- Report{changes, err}:
		case <-ctx.Done():
			return
		}
	}
}
