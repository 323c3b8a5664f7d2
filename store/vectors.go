package store

import (
	"context"
	"slices"
	"sync"

	"github.com/p8-org/p8/store/internal/vector"
)

const (
	// vectorBudget bounds the indexes together, in bytes; the least recently used
	// are dropped. A set that needs more by itself has no index: each search reads
	// all its rows.
	vectorBudget = 512 << 20
	// maxDirtyVectors rows are read again a few hundred at a time; more, and the
	// index is built anew.
	maxDirtyVectors = 20_000
	vectorBatch     = 500
)

// vectorIndexes keeps an index for each set of vectors that is searched, built
// when it is first needed: for an engine that has no such index. Writers mark what
// they may have changed, after their transaction, as those of the fuzzyIndex do.
type vectorIndexes struct {
	mu   sync.Mutex
	sets map[vectorSet]map[vectorKey]*vectorIndex
	// tick counts the searches.
	tick   int64
	budget int
}

// vectorSet is the rows of a table in a tenant, whatever the model.
type vectorSet struct{ tenant, table string }

func (k vectorKey) set() vectorSet { return vectorSet{k.tenant, k.table} }

// vectorIndex is the index of one key. Its lock guards the index; the other
// fields belong to vectorIndexes.mu.
type vectorIndex struct {
	indexLock
	*vector.Index
	// tooLarge sets have an empty index.
	tooLarge bool
	dirty    map[string]bool
	stale    bool
	used     int64
	size     int
}

func newVectorIndexes() *vectorIndexes {
	return &vectorIndexes{sets: make(map[vectorSet]map[vectorKey]*vectorIndex), budget: vectorBudget}
}

// changed marks rows; it is called after their transaction has ended.
func (x *vectorIndexes) changed(changes ...change) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, ch := range changes {
		t := tableOf(ch.entity)
		if t == nil || ch.id == "" {
			continue
		}
		for _, ix := range x.sets[vectorSet{ch.tenant, t.Name}] {
			if ix.stale {
				continue
			}
			ix.dirty[ch.id] = true
			ix.stale = len(ix.dirty) > maxDirtyVectors
		}
	}
}

// open returns the index of a key, up to date with every change marked before,
// and locked for reading.
func (x *vectorIndexes) open(ctx context.Context, c Conn, k vectorKey) (*vectorIndex, error) {
	for {
		ix, fresh := x.get(k)
		if !fresh {
			if err := x.update(ctx, c, k, ix); err != nil {
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

func (x *vectorIndexes) get(k vectorKey) (ix *vectorIndex, fresh bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	set := x.sets[k.set()]
	if set == nil {
		set = make(map[vectorKey]*vectorIndex)
		x.sets[k.set()] = set
	}
	ix = set[k]
	if ix == nil {
		ix = &vectorIndex{indexLock: newIndexLock(), stale: true}
		set[k] = ix
	}
	x.tick++
	ix.used = x.tick
	return ix, !ix.stale && len(ix.dirty) == 0
}

func (x *vectorIndexes) update(ctx context.Context, c Conn, k vectorKey, ix *vectorIndex) error {
	done, err := ix.build(ctx)
	if err != nil {
		return err
	}
	defer done()
	x.mu.Lock()
	stale, dirty := ix.stale, ix.dirty
	ix.stale, ix.dirty = false, make(map[string]bool)
	x.mu.Unlock()
	err = ix.refresh(ctx, c, k, x.budget, stale, dirty)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		ix.Index, ix.stale = nil, true
		return err
	}
	ix.size = ix.Size()
	x.evict(ix)
	return nil
}

// evict drops the least recently used indexes beyond the budget, never keep.
func (x *vectorIndexes) evict(keep *vectorIndex) {
	const entry = 1024 // what an empty index costs
	for {
		total := 0
		var oldest vectorKey
		var victim *vectorIndex
		for _, set := range x.sets {
			for k, ix := range set {
				total += ix.size + entry
				if ix != keep && (victim == nil || ix.used < victim.used) {
					oldest, victim = k, ix
				}
			}
		}
		if total <= x.budget || victim == nil {
			return
		}
		delete(x.sets[oldest.set()], oldest)
		if len(x.sets[oldest.set()]) == 0 {
			delete(x.sets, oldest.set())
		}
	}
}

// refresh reads all vectors of the key, or those that changed.
func (ix *vectorIndex) refresh(ctx context.Context, c Conn, k vectorKey, budget int, whole bool, dirty map[string]bool) error {
	put := func(v *vectorRow) error {
		if id, ok := vectorID(v.id); ok {
			ix.Put(vector.Row{ID: id, Owner: v.owner, Category: v.category, Vector: v.vector})
		}
		return nil
	}
	if whole || ix.Index == nil || ix.tooLarge {
		rows := 0
		if _, err := one(ctx, c, `SELECT count(*) FROM embeddings WHERE tenant_id = $1 AND table_name = $2 AND model = $3`,
			[]any{&rows}, k.tenant, k.table, k.model); err != nil {
			return err
		}
		if ix.tooLarge = vector.Needs(k.dimensions, rows) > budget; ix.tooLarge {
			rows = 0
		}
		if ix.Index = vector.New(k.dimensions, rows); ix.tooLarge {
			return nil
		}
		if err := eachVector(ctx, c, k, nil, put); err != nil {
			return err
		}
		ix.Tune()
		return nil
	}
	ids := make([]string, 0, len(dirty))
	for id := range dirty {
		ids = append(ids, id)
		if v, ok := vectorID(id); ok {
			ix.Delete(v)
		}
	}
	for batch := range slices.Chunk(ids, vectorBatch) {
		if err := eachVector(ctx, c, k, batch, put); err != nil {
			return err
		}
	}
	ix.Tune()
	return nil
}
