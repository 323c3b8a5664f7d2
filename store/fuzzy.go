package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/p8-org/p8/store/internal/trgm"
)

// The defaults of FUZZY.
const (
	DefaultThreshold = 0.3
	DefaultLimit     = 10
	// wordThreshold is pg_trgm's own default for word_similarity.
	wordThreshold = 0.6
	maxFuzzyText  = 1000
	maxFuzzyLimit = 200
)

// Fuzzy finds rows that resemble a text: those whose key or summary (the first
// 500 characters of the row) has a trigram similarity to it of threshold or
// more, and those that contain its words: a short question is never similar to
// a long summary, but may stand in it. The score is the greatest of pg_trgm's
// similarity(key, text), similarity(summary, text) and, where they reach both
// the threshold and 0.6, word_similarity(text, key) and word_similarity(text,
// summary); equal scores are ordered by similarity, then key.
//
// A threshold of 0 is 0.3, a limit of 0 is 10 (at most 200). Only the first
// 1000 characters of the text count. Where the index is in memory, the rows of
// one owner beyond the first 256 MiB of it (some 100,000 with long texts, a
// million with short ones), in the order of their keys, are found by LOOKUP only.
func (s *Store) Fuzzy(ctx context.Context, text string, threshold float64, limit int) (found []Match, err error) {
	err = s.shared(ctx, func(ctx context.Context) error {
		found, err = s.fuzzyOnce(ctx, text, threshold, limit)
		return err
	})
	return found, err
}

func (s *Store) fuzzyOnce(ctx context.Context, text string, threshold float64, limit int) ([]Match, error) {
	if threshold <= 0 {
		threshold = DefaultThreshold
	}
	limit = page(limit, DefaultLimit, maxFuzzyLimit)
	if r := []rune(text); len(r) > maxFuzzyText {
		text = string(r[:maxFuzzyText])
	}
	if ix, ok := s.engine.(Indexed); ok {
		sc, err := scopeOf(ctx)
		if err != nil {
			return nil, err
		}
		found, err := ix.Fuzzy(ctx, sc.scope(), text, threshold, limit)
		return found, fail("fuzzy", err)
	}
	var hits []trgm.Hit
	rows := make(map[string]Match)
	err := s.read(ctx, "fuzzy", func(c Conn, sc scope) error {
		for _, o := range sc.scope().KeyOwners() {
			k := keyScope{o.TenantID, o.UserID}
			ix, err := s.fuzzy.open(ctx, c, k)
			if err != nil {
				return err
			}
			found := ix.Search(text, threshold, max(threshold, wordThreshold), limit)
			ix.RUnlock()
			for _, h := range found {
				entity, id := splitDocID(h.ID)
				// The tenant and the owner tell rows of the same id apart.
				h.ID += "\n" + k.tenant + "\n" + k.owner
				rows[h.ID] = Match{Key: h.Key, Type: entity, ID: id, Score: h.Score, Summary: h.Summary, Own: k.owner != ""}
				hits = append(hits, h)
			}
		}
		return nil
	})
	// Stable, so that of equals the nearest scope stays first.
	slices.SortStableFunc(hits, func(a, b trgm.Hit) int {
		a.ID, b.ID = "", ""
		return trgm.Compare(a, b)
	})
	hits = hits[:min(limit, len(hits))]
	found := make([]Match, len(hits))
	for i, h := range hits {
		found[i] = rows[h.ID]
	}
	return found, err
}

// docID names a row inside a scope's index.
func docID(entity, id string) string { return entity + "\n" + id }

func splitDocID(s string) (entity, id string) {
	entity, id, _ = strings.Cut(s, "\n")
	return entity, id
}

// keyScope is the keys of one owner in one tenant; the owner "" is everybody.
type keyScope struct{ tenant, owner string }

// change is a row of the key index that a transaction may have written.
type change struct{ tenant, owner, entity, id string }

// fuzzyIndex keeps a trigram index for each scope that is searched, built when
// it is first needed. A writer only marks what it may have changed, after its
// transaction; the next search reads those rows again. So it does not matter in
// which order concurrent writers come here, nor whether they committed.
type fuzzyIndex struct {
	mu     sync.Mutex
	scopes map[keyScope]*scopeIndex
	tick   int64
	budget int
}

// scopeIndex is the index of one scope. The lock guards the index; the other
// fields belong to fuzzyIndex.mu.
type scopeIndex struct {
	indexLock
	*trgm.Index
	dirty map[change]bool
	stale bool
	used  int64
	size  int
}

const (
	// fuzzyBudget bounds the indexes together, in bytes; the least recently used
	// are dropped. One scope may take half of it: of more rows, the first ones by
	// key are found.
	fuzzyBudget = 512 << 20
	// maxDirty rows are read again one by one; more, and the scope is built anew.
	maxDirty = 256
)

func newFuzzyIndex() *fuzzyIndex {
	return &fuzzyIndex{scopes: make(map[keyScope]*scopeIndex), budget: fuzzyBudget}
}

// changed marks rows; it is called after their transaction has ended.
func (f *fuzzyIndex) changed(changes ...change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ch := range changes {
		ix := f.scopes[keyScope{ch.tenant, ch.owner}]
		if ix == nil || ch.id == "" || ix.stale {
			continue
		}
		ix.dirty[ch] = true
		ix.stale = len(ix.dirty) > maxDirty
	}
}

// reset forgets every index.
func (f *fuzzyIndex) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.scopes)
}

// open returns the scope's index, up to date with every change marked before,
// and locked for reading.
func (f *fuzzyIndex) open(ctx context.Context, c Conn, k keyScope) (*scopeIndex, error) {
	for {
		ix, fresh := f.get(k)
		if !fresh {
			if err := f.update(ctx, c, k, ix); err != nil {
				return nil, err
			}
		}
		if err := ix.search(ctx); err != nil {
			return nil, err
		}
		if ix.Index != nil {
			return ix, nil
		}
		// Somebody else's update failed in between.
		ix.RUnlock()
	}
}

func (f *fuzzyIndex) get(k keyScope) (ix *scopeIndex, fresh bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ix = f.scopes[k]
	if ix == nil {
		ix = &scopeIndex{indexLock: newIndexLock(), stale: true}
		f.scopes[k] = ix
	}
	f.tick++
	ix.used = f.tick
	return ix, !ix.stale && len(ix.dirty) == 0
}

func (f *fuzzyIndex) update(ctx context.Context, c Conn, k keyScope, ix *scopeIndex) error {
	done, err := ix.build(ctx)
	if err != nil {
		return err
	}
	defer done()
	f.mu.Lock()
	stale, dirty := ix.stale, ix.dirty
	ix.stale, ix.dirty = false, make(map[change]bool)
	f.mu.Unlock()
	err = ix.refresh(ctx, c, k, stale, dirty, f.budget/2)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		ix.Index, ix.stale = nil, true
		return err
	}
	ix.size = ix.Size()
	f.evict(ix)
	return nil
}

// evict drops the least recently used indexes beyond the budget, never keep.
func (f *fuzzyIndex) evict(keep *scopeIndex) {
	total := 0
	for _, ix := range f.scopes {
		// An empty scope costs its entry.
		total += ix.size + 512
	}
	for total > f.budget && len(f.scopes) > 1 {
		var oldest keyScope
		var victim *scopeIndex
		for k, ix := range f.scopes {
			if ix != keep && (victim == nil || ix.used < victim.used) {
				oldest, victim = k, ix
			}
		}
		total -= victim.size + 512
		delete(f.scopes, oldest)
	}
}

const keyRow = `SELECT entity_type, entity_id, entity_key, content_summary FROM kv_store WHERE tenant_id = $1 AND owner = $2`

// errFull ends the reading of a scope that is too large for the memory.
var errFull = errors.New("the index is full")

// eachKey reads the keys of a scope in their order, a page at a time: a statement
// that runs for long keeps the database's log from being emptied. Rows that change
// meanwhile are marked, and read again.
func eachKey(ctx context.Context, c Conn, k keyScope, put func(trgm.Doc) error) error {
	var key, entity, id string
	for n := indexPage; n == indexPage; {
		n = 0
		if err := c.Query(ctx, keyRow+` AND (entity_key, entity_type) > ($3, $4) ORDER BY entity_key, entity_type LIMIT $5`, func(r Row) error {
			n++
			var d trgm.Doc
			if err := r.Scan(&entity, &id, &d.Key, &d.Summary); err != nil {
				return err
			}
			key, d.ID = d.Key, docID(entity, id)
			return put(d)
		}, k.tenant, k.owner, key, entity, indexPage); err != nil {
			return err
		}
	}
	return nil
}

// indexPage is how many rows one statement reads that builds an index.
const indexPage = 5000

// refresh reads the whole scope, or the rows that changed, until the index takes
// so much memory, in bytes.
func (ix *scopeIndex) refresh(ctx context.Context, c Conn, k keyScope, whole bool, dirty map[change]bool, most int) error {
	put := func(d trgm.Doc) error {
		if ix.Size() >= most && !ix.Has(d.ID) {
			return errFull
		}
		ix.Put(d)
		return nil
	}
	if whole || ix.Index == nil {
		ix.Index = trgm.NewIndex()
		err := eachKey(ctx, c, k, put)
		if errors.Is(err, errFull) {
			return nil
		}
		return err
	}
	for ch := range dirty {
		found := false
		if err := c.Query(ctx, keyRow+` AND entity_type = $3 AND entity_id = $4`, func(r Row) error {
			found = true
			var d trgm.Doc
			var entity, id string
			if err := r.Scan(&entity, &id, &d.Key, &d.Summary); err != nil {
				return err
			}
			d.ID = docID(entity, id)
			return put(d)
		}, k.tenant, k.owner, ch.entity, ch.id); err != nil && !errors.Is(err, errFull) {
			return err
		}
		if !found {
			ix.Delete(docID(ch.entity, ch.id))
		}
	}
	return nil
}
