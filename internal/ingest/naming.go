package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/store"
)

// candidate is a file whose bytes are known and whose name is to be found.
type candidate struct {
	*source
	hash   string
	format extract.Format
	// detected is the MIME type that goes with the format.
	detected string
	// explicit is the name in its front matter.
	explicit string
	name     string
	// id is that of its row in files.
	id string
	// stored is its row, nil for none.
	stored *store.File
}

// maxStem keeps room for what chunks' names add.
const maxStem = 200

// names are what a file may be called, the best first; the last is unique.
func (c *candidate) names() []string {
	sum := sha256.Sum256([]byte(c.uri))
	short := hex.EncodeToString(sum[:4])
	first := c.explicit
	if first == "" {
		first = stem(c.tail)
	}
	whole := strings.ReplaceAll(c.rel, "/", "-")
	list := []string{
		clean(first, short),
		clean(strings.TrimSuffix(whole, path.Ext(whole)), short),
		clean(whole, short),
	}
	return append(list, clean(cut(list[0], maxStem-len(short)-1)+"-"+short, short))
}

// clean makes a name storable: printable, not too long, with a key.
func clean(name, fallback string) string {
	name = cut(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == '\uFFFD' || r < ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))), " "), maxStem)
	if store.NormalizeKey(name) == "" {
		return "file-" + fallback
	}
	return name
}

// cut is the first n characters of a name.
func cut(name string, n int) string {
	if r := []rune(name); len(r) > n {
		return string(r[:n])
	}
	return name
}

// pageSuffix ends the name of a file that became a page: the document's own
// name, and so its key, is the page's, and one key does not stand for both.
const pageSuffix = ".md"

// documentName is the name of what was made of a stored file.
func documentName(f *store.File) string { return strings.TrimSuffix(f.Name, pageSuffix) }

// assign gives every candidate a name that no other has and that is not taken.
// taken are the keys of files of other runs.
func assign(all []*candidate, taken map[string]bool) {
	used := map[string]bool{}
	var open []*candidate
	for _, c := range all {
		if c.stored != nil && keeps(c) {
			c.name = documentName(c.stored)
			used[store.NormalizeKey(c.name)] = true
		} else {
			open = append(open, c)
		}
	}
	for level := 0; len(open) > 0; level++ {
		groups := map[string][]*candidate{}
		var order []string
		for _, c := range open {
			list := c.names()
			c.name = list[min(level, len(list)-1)]
			key := store.NormalizeKey(c.name)
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], c)
		}
		open = nil
		for _, key := range order {
			group := groups[key]
			if level >= 3 { // the hash of the URI tells them apart
				continue
			}
			winner := nearest(group)
			if used[key] || taken[key] {
				winner = nil
			}
			for _, c := range group {
				if c == winner {
					used[key] = true
				} else {
					open = append(open, c)
				}
			}
		}
	}
}

// keeps reports whether a stored file may go on under its name.
func keeps(c *candidate) bool {
	for _, name := range c.names() {
		if c.explicit != "" && name != clean(c.explicit, "") {
			continue
		}
		if name == documentName(c.stored) {
			return true
		}
	}
	return false
}

// nearest is the candidate that lies nearest to the root, nil when several do.
func nearest(group []*candidate) *candidate {
	var best *candidate
	least, alone := 0, false
	for _, c := range group {
		switch depth := strings.Count(c.rel, "/"); {
		case best == nil || depth < least:
			best, least, alone = c, depth, true
		case depth == least:
			alone = false
		}
	}
	if !alone {
		return nil
	}
	return best
}
