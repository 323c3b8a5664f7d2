package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/store"
)

// candidate is a file that has been hashed and has no name yet.
type candidate struct {
	*source
	hash   string
	format extract.Format
	// detected is the MIME type of the format.
	detected string
	// explicit is the name in the front matter.
	explicit string
	name     string
	// id is the id of the row in files.
	id string
	// stored is the row, nil for none.
	stored *store.File
}

// maxStem leaves room for the suffixes of chunks' names.
const maxStem = 200

// names returns the possible names of a file, the best first; the last is unique.
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

// clean makes a name storable: printable, not too long, and with a key.
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

// cut returns the first n characters of a name.
func cut(name string, n int) string {
	if r := []rune(name); len(r) > n {
		return string(r[:n])
	}
	return name
}

// pageSuffix ends the name of a file that became a page. The page has the name of the
// document, and so its key; the file needs another key.
const pageSuffix = ".md"

// documentName returns the name of the document of a stored file.
func documentName(f *store.File) string { return strings.TrimSuffix(f.Name, pageSuffix) }

// assign gives each candidate a unique name. taken has the keys of files of other runs.
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

// keeps reports whether a stored file may keep its name.
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

// nearest returns the candidate nearest to the root, nil if there are several.
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
