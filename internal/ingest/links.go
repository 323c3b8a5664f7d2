package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/markdown"
	"github.com/p8-org/p8/store"
)

// linkEdges returns the edges of a page: one per target, in order, none to itself.
func linkEdges(found []markdown.Link, self string, key func(markdown.Link) string) []store.Edge {
	var edges []store.Edge
	seen := map[string]bool{store.NormalizeKey(self): true, "": true}
	for _, l := range found {
		target := key(l)
		if k := store.NormalizeKey(target); !seen[k] {
			seen[k] = true
			edges = append(edges, store.Edge{Target: target, Relation: "links_to", Weight: 1})
		}
	}
	return edges
}

// mergeEdges puts the edges of the front matter before those of links, and drops links to
// targets that the front matter names.
func mergeEdges(named, linked []store.Edge) []store.Edge {
	out := slices.Clone(named)
	for _, e := range linked {
		if !slices.ContainsFunc(named, func(n store.Edge) bool {
			return store.NormalizeKey(n.Target) == store.NormalizeKey(e.Target)
		}) {
			out = append(out, e)
		}
	}
	return out
}

// stem returns the name of a file without folder and extension; for README and index,
// the name of the folder.
func stem(file string) string {
	base := path.Base(file)
	name := strings.TrimSuffix(base, path.Ext(base))
	if isIndex(name) {
		if folder := path.Base(path.Dir(file)); folder != "." && folder != "/" && folder != ".." {
			return folder
		}
	}
	if name == "" {
		return base
	}
	return name
}

// isIndex reports whether a page with this name describes its folder.
func isIndex(name string) bool {
	switch strings.ToLower(name) {
	case "readme", "index", "_index":
		return true
	}
	return false
}

// linker resolves links to keys.
type linker struct {
	// byURI has the names of the files of the run.
	byURI map[string]string
	// names identifies the names of a run, since links depend on them; "" if the name of
	// each file is its stem.
	names string
}

func newLinker(all []*candidate) *linker {
	l := &linker{byURI: make(map[string]string, len(all))}
	h := sha256.New()
	special := false
	for _, c := range all {
		l.byURI[c.uri] = c.name
		if c.name != stem(c.tail) {
			special = true
			h.Write([]byte(c.uri + "\x00" + c.name + "\x00"))
		}
	}
	if special {
		l.names = hex.EncodeToString(h.Sum(nil)[:8])
	}
	return l
}

// key returns the key to which a link leads: the name of the linked file if that is in the
// run, or else its stem.
func (l *linker) key(c *candidate, to markdown.Link) string {
	if to.Wiki {
		return to.Dest
	}
	base := filePath(c.uri)
	if base == "" {
		return stem(path.Clean(to.Dest))
	}
	target := path.Join(path.Dir(filepath.ToSlash(base)), to.Dest)
	if strings.HasPrefix(to.Dest, "/") { // from the root of the site
		target = path.Join(strings.TrimSuffix(filepath.ToSlash(base), c.rel), to.Dest)
	}
	for _, try := range []string{"", ".md", "/README.md", "/index.md"} {
		if name, ok := l.byURI[fileURI(filepath.FromSlash(target+try))]; ok {
			return name
		}
	}
	return stem(target)
}
