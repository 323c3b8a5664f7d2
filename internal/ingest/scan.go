package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/internal/ingest/internal/markdown"
	"github.com/p8-org/p8/store"
)

// scan hashes a file, and reads the name in its front matter.
func (in *Ingester) scan(s *source) (*candidate, error) {
	c := &candidate{source: s}
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, min(s.size+1, headBytes))
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	h := sha256.New()
	h.Write(head)
	rest, err := io.Copy(h, io.LimitReader(r, in.MaxFileBytes+1-int64(n)))
	if err != nil {
		return nil, err
	}
	if s.size = int64(n) + rest; s.size > in.MaxFileBytes {
		return nil, tooLarge(in.MaxFileBytes)
	}
	c.hash = hex.EncodeToString(h.Sum(nil))
	if c.format, c.detected = extract.Detect(s.rel, s.mime, head); c.format != extract.Markdown {
		return c, nil
	}
	if src, _ := markdown.SplitFront(strings.TrimPrefix(string(head), "\uFEFF")); src != "" {
		// The error is reported when the file is read.
		if f, ok, err := readFront(s.path, src); ok && err == nil {
			c.explicit = f.name
		}
	}
	return c, nil
}

// headBytes hold front matter, however long.
const headBytes = 80 << 10

// open opens the file, inside of its root.
func (s *source) open() (io.ReadCloser, error) {
	if s.root == nil {
		_, err := s.body.Seek(0, io.SeekStart)
		return io.NopCloser(s.body), err
	}
	return s.root.Open(s.rel)
}

// lookupPage is how many files one statement looks up.
const lookupPage = 200

// identify finds the row of each candidate, and its name.
func (in *Ingester) identify(ctx context.Context, all []*candidate, set settings) error {
	who, err := identity.From(ctx)
	if err != nil {
		return err
	}
	owner := who.UserID
	if set.shared {
		owner = ""
	}
	mine := func(f *store.File) bool { return f.UserID == owner && (f.TenantID == "" || f.TenantID == who.TenantID) }
	byID, byURI := map[string]*candidate{}, map[string]*candidate{}
	var ids []string
	for _, c := range all {
		c.id = store.EntityID("files", c.uri, owner)
		byID[c.id], byURI[c.uri] = c, c
		ids = append(ids, c.id)
	}
	find := func(values []string, filter func([]string) store.Filter, use func(*store.File)) error {
		for part := range slices.Chunk(values, lookupPage) {
			f := filter(part)
			f.Limit = 1000
			rows, _, err := in.Store.Files.Find(ctx, f)
			if err != nil {
				return err
			}
			for i := range rows {
				if mine(&rows[i]) {
					use(&rows[i])
				}
			}
		}
		return nil
	}
	if err := find(ids, func(p []string) store.Filter { return store.Filter{IDs: p} }, func(f *store.File) {
		if c := byID[f.ID]; c != nil {
			c.stored = f
		}
	}); err != nil {
		return err
	}
	taken, byTail := map[string]bool{}, tails(all)
	var names []string
	for _, c := range all {
		if c.stored == nil || !keeps(c) {
			for _, name := range c.names() {
				names = append(names, name, name+pageSuffix)
			}
		}
	}
	slices.Sort(names)
	if err := find(slices.Compact(names), func(p []string) store.Filter { return store.Filter{Names: p} }, func(f *store.File) {
		switch c := byURI[f.URI]; {
		case c != nil:
			if c.stored == nil {
				c.stored, c.id = f, f.ID
			}
		default:
			if c := moved(f, byTail); c != nil {
				c.stored, c.id = f, f.ID
				return
			}
			taken[store.NormalizeKey(documentName(f))] = true
		}
	}); err != nil {
		return err
	}
	assign(all, taken)
	return nil
}

// tails are the local candidates by the ends of their paths.
func tails(all []*candidate) map[string][]*candidate {
	byTail := map[string][]*candidate{}
	for _, c := range all {
		if c.root != nil {
			byTail[c.tail] = append(byTail[c.tail], c)
		}
	}
	return byTail
}

// moved returns the candidate that a stored file has become: the stored path is gone and
// ends like the candidate's, as when a folder is stored from another place.
func moved(f *store.File, byTail map[string][]*candidate) *candidate {
	old := filePath(f.URI)
	if old == "" || len(byTail) == 0 {
		return nil
	}
	if _, err := os.Lstat(old); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// The longest common end wins.
	for _, end, found := strings.Cut(path.Clean(filepath.ToSlash(old)), "/"); found; _, end, found = strings.Cut(end, "/") {
		for _, c := range byTail[end] {
			if c.stored == nil {
				return c
			}
		}
	}
	return nil
}
