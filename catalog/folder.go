package catalog

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/p8-org/p8/agent"
)

// MaxFiles bounds the documents of a folder; the first by name are read.
const MaxFiles = 1000

// racy is how long a time stamp is not trusted: a file that is written twice
// within its resolution keeps its time and perhaps its size.
const racy = 2 * time.Second

// folder is a directory of documents. It caches them and checks with each look-up whether
// files have changed: the directory and one file if the name is known, else every file.
type folder struct {
	dir string
	// only is the one file of the directory that counts, "" for all.
	only string
	c    *Catalog
	// keeps is Options.KeepValid.
	keeps bool

	mu    sync.Mutex
	seen  stamp // of the directory
	files map[string]*file
	index index
	// changes counts the changes of the index.
	changes int
	// outranked are the warnings about documents that are not used.
	outranked map[string]bool
	// unreadable keeps a directory that cannot be read from filling the log.
	unreadable bool
}

// file has the documents of a file with its stamp and the hash of its text. Markdown that
// is no agent has none. While a text is not valid, sources are those of the text before, and
// broken is what is listed beside them.
type file struct {
	stamp
	hash    string
	sources []*source
	broken  *source
}

// stamp is the size and time of a file when it was read.
type stamp struct {
	modified time.Time
	size     int64
	read     time.Time
}

// holds reports whether the file, whose state is now info, is unchanged since it was read.
func (s *stamp) holds(info fs.FileInfo) bool {
	return s.modified.Equal(info.ModTime()) && s.size == info.Size() && s.read.Sub(s.modified) > racy
}

func newFolder(dir, only string, c *Catalog) *folder {
	return &folder{dir: dir, only: only, c: c, files: map[string]*file{}}
}

// get returns the current document with this name, or nil. A nil folder has no documents.
func (f *folder) get(name string) *source {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.dir)
	if err != nil || !f.seen.holds(info) {
		f.scan()
		return f.index.get(name)
	}
	s := f.index.get(name)
	if s == nil {
		f.scan()
		return f.index.get(name)
	}
	info, err = os.Stat(filepath.Join(f.dir, s.file))
	if err != nil || !f.files[s.file].holds(info) {
		f.scan()
		return f.index.get(name)
	}
	return s
}

// version counts the changes of the documents. It notices files that came or went at
// once, the text of a changed one when a document is looked up. A nil folder never changes.
func (f *folder) version() int {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if info, err := os.Stat(f.dir); err != nil || !f.seen.holds(info) {
		f.scan()
	}
	return f.changes
}

// newer returns the problems of a newer text of a document's file, which is not used.
func (f *folder) newer(s *source) agent.Problems {
	if f == nil || s.origin != File {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if x := f.files[s.file]; x != nil && x.broken != nil {
		return x.broken.problems
	}
	return nil
}

// all returns every present document.
func (f *folder) all() []*source {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scan()
	return f.index.sources
}

// scan reads the changed files.
func (f *folder) scan() {
	now := time.Now()
	info, err := os.Stat(f.dir)
	var names []string
	if err == nil {
		names, err = f.names()
	}
	if err != nil {
		if !f.unreadable {
			f.c.log.Error("the schema folder cannot be read; its agents are not available", "dir", f.dir, "error", err)
			f.changes++
		}
		f.unreadable, f.seen, f.files, f.index = true, stamp{}, map[string]*file{}, index{}
		return
	}
	f.unreadable, f.seen = false, stamp{info.ModTime(), info.Size(), now}
	old := f.files
	f.files = make(map[string]*file, len(old))
	var sources []*source
	changed, read := false, 0
	for _, name := range names {
		if read == MaxFiles {
			f.c.log.Error("the schema folder holds too many documents; the rest is not available", "dir", f.dir, "limit", MaxFiles)
			break
		}
		next := f.read(name, old[name], now)
		if next == nil {
			continue
		}
		changed = changed || old[name] == nil || !slices.Equal(old[name].sources, next.sources)
		f.files[name] = next
		sources = append(sources, next.sources...)
		if len(next.sources) > 0 {
			read++
		}
	}
	if changed || len(f.files) != len(old) {
		f.index = newIndex(sources)
		f.changes++
		f.rank()
	}
}

// rank logs the documents that others outrank, once each. A given document precedes all.
func (f *folder) rank() {
	if f.only != "" {
		return
	}
	var r Ranking
	r.Above(builtinAgent, slices.Collect(maps.Keys(f.c.builtin.byName)))
	old := f.outranked
	f.outranked = map[string]bool{}
	for _, s := range f.index.sources {
		if s.problems != nil {
			continue
		}
		_, warnings := r.Add(s.file, s.names)
		for _, p := range warnings {
			f.outranked[p.Error()] = true
			if !old[p.Error()] {
				f.report(warnings)
			}
		}
	}
}

// names returns the files that may be documents.
func (f *folder) names() ([]string, error) {
	if f.only != "" {
		return []string{f.only}, nil
	}
	entries, err := os.ReadDir(f.dir)
	var names []string
	for _, e := range entries {
		if IsDocument(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// read returns the documents of a file, from the cache if the file has not changed; nil for
// a directory.
func (f *folder) read(name string, old *file, now time.Time) *file {
	path := filepath.Join(f.dir, name)
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular(), errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && old != nil && old.holds(info):
		return old
	}
	var text []byte
	if err == nil {
		text, err = readLimited(path)
	}
	next := &file{hash: hash(text)}
	if err == nil {
		next.stamp = stamp{info.ModTime(), info.Size(), now}
	} else {
		next.hash = err.Error()
	}
	if old != nil && old.hash == next.hash {
		next.sources, next.broken = old.sources, old.broken
		return next
	}
	var warnings agent.Problems
	switch {
	case text != nil && agent.Ordinary(name, text):
	case errors.Is(err, errTooLarge):
		next.sources = []*source{badSource(File, name, "the document is larger than 1 MiB")}
	case err != nil:
		next.sources = []*source{badSource(File, name, "the file cannot be read")}
	default:
		next.sources, warnings = newSources(File, name, text)
	}
	for _, s := range next.sources {
		f.report(s.problems)
	}
	f.report(warnings)
	next.keep(old, f)
	return next
}

// keep makes a file that cannot be used any more keep the documents of its last valid text.
func (x *file) keep(old *file, f *folder) {
	if !f.keeps || old == nil || len(x.sources) != 1 || x.sources[0].problems == nil || len(old.sources) == 0 || old.sources[0].problems != nil {
		return
	}
	x.broken, x.sources = x.sources[0], old.sources
	f.c.log.Warn("a document of the schema folder is not valid any more; its last valid version is used until it is mended", "file", x.broken.file)
}

// report logs the problems of a document, once for each text.
func (f *folder) report(problems agent.Problems) {
	for _, p := range problems {
		f.c.log.Warn("a document of the schema folder", "severity", string(p.Severity), "problem", p.Error())
	}
}

var errTooLarge = errors.New("catalog: too large")

func readLimited(path string) ([]byte, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = errTooLarge
	}
	return text, err
}
