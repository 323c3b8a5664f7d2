// Package indexcache keeps indexes in memory that are built from rows of a database:
// each is built when it is first searched, updated when it is searched after a write,
// and evicted when the indexes together need more memory than their budget.
//
//	cache := indexcache.New[group, key, row, *index](indexcache.Options{Budget: 512 << 20, MaxDirty: 256})
//	x, release, err := cache.Open(ctx, key, source) // a Source reads the rows
//	hits := x.Search(question)
//	release()
//	...
//	cache.Changed(group, rows...) // after a write has ended
//
// A writer only marks the rows that it may have changed, after its transaction has ended;
// the next search reads those rows again. So it does not matter in which order concurrent
// writers mark their rows, or whether they committed.
package indexcache

import (
	"container/list"
	"context"
	"sync"
)

// Key names an index. Its Group is the part of the key that a writer knows: a write
// marks its rows in every index of a group.
type Key[G comparable] interface {
	comparable
	Group() G
}

// Index is built from rows. Size is in bytes.
type Index interface{ Size() int }

// Source reads the rows of one index. Calls for one index never overlap, and no search
// reads the index during a call. After an error the next search builds the index anew.
type Source[R comparable, X Index] interface {
	// Build reads all rows.
	Build(ctx context.Context) (X, error)
	// Update reads the given rows again, which may be gone, and returns the index or one
	// that replaces it.
	Update(ctx context.Context, x X, rows map[R]bool) (X, error)
}

// Options bound a cache.
type Options struct {
	// Budget bounds the indexes together, in bytes; the least recently used are evicted.
	// The index that is being opened stays even if it exceeds the budget by itself.
	Budget int
	// Entry is what an index costs besides its Size, in bytes.
	Entry int
	// MaxDirty is how many rows of an index are read again one by one; if more have
	// changed, the index is built anew.
	MaxDirty int
}

// Cache keeps the indexes of type X by keys of type K; R names a row. Its methods are
// safe for concurrent use.
type Cache[G comparable, K Key[G], R comparable, X Index] struct {
	o  Options
	mu sync.Mutex
	// groups and used hold the same entries; used is ordered, the most recently used first.
	groups map[G]map[K]*entry[K, R, X]
	used   *list.List
	// size is the memory of all entries, in bytes.
	size int
	// hits and misses count the searches that found an index up to date, and the others.
	hits, misses uint64
}

// entry is an index and its state. lock guards index and built; the other fields belong to
// Cache.mu.
type entry[K comparable, R comparable, X Index] struct {
	lock
	key   K
	index X
	// built is false until a build succeeds, and after a failure.
	built bool
	dirty map[R]bool
	stale bool
	size  int
	// place is the entry's element of Cache.used, nil once it is evicted.
	place *list.Element
}

// New returns an empty cache.
func New[G comparable, K Key[G], R comparable, X Index](o Options) *Cache[G, K, R, X] {
	return &Cache[G, K, R, X]{o: o, groups: make(map[G]map[K]*entry[K, R, X]), used: list.New()}
}

// Changed marks rows in the indexes of a group. Call it after the transaction that may
// have written the rows has ended.
func (c *Cache[G, K, R, X]) Changed(group G, rows ...R) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.groups[group] {
		for _, row := range rows {
			if e.stale {
				break
			}
			e.dirty[row] = true
			e.stale = len(e.dirty) > c.o.MaxDirty
		}
	}
}

// Drop drops the indexes of a group.
func (c *Cache[G, K, R, X]) Drop(group G) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.groups[group] {
		c.drop(e)
	}
}

// Reset drops every index.
func (c *Cache[G, K, R, X]) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := c.used.Front(); at != nil; at = at.Next() {
		at.Value.(*entry[K, R, X]).place = nil
	}
	clear(c.groups)
	c.used.Init()
	c.size = 0
}

// Open returns the index of a key, locked for reading until release. All rows that were
// marked before the call are up to date in it.
func (c *Cache[G, K, R, X]) Open(ctx context.Context, key K, from Source[R, X]) (x X, release func(), err error) {
	for {
		e, fresh := c.get(key)
		if !fresh {
			if err := c.update(ctx, e, from); err != nil {
				return x, nil, err
			}
		}
		if err := e.search(ctx); err != nil {
			return x, nil, err
		}
		if e.built {
			return e.index, e.RUnlock, nil
		}
		// Another search's update failed in between.
		e.RUnlock()
	}
}

func (c *Cache[G, K, R, X]) get(key K) (e *entry[K, R, X], fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	group := c.groups[key.Group()]
	if group == nil {
		group = make(map[K]*entry[K, R, X])
		c.groups[key.Group()] = group
	}
	if e = group[key]; e == nil {
		e = &entry[K, R, X]{lock: newLock(), key: key, stale: true}
		e.place = c.used.PushFront(e)
		group[key] = e
		c.size += c.o.Entry
	}
	c.used.MoveToFront(e.place)
	if fresh = !e.stale && len(e.dirty) == 0; fresh {
		c.hits++
	} else {
		c.misses++
	}
	return e, fresh
}

// Use returns how many searches found their index up to date, how many did not, and the bytes
// of all indexes.
func (c *Cache[G, K, R, X]) Use() (hits, misses uint64, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses, c.size
}

func (c *Cache[G, K, R, X]) update(ctx context.Context, e *entry[K, R, X], from Source[R, X]) error {
	done, err := e.build(ctx)
	if err != nil {
		return err
	}
	defer done()
	c.mu.Lock()
	stale, dirty := e.stale, e.dirty
	e.stale, e.dirty = false, make(map[R]bool)
	c.mu.Unlock()
	if stale || !e.built {
		e.index, err = from.Build(ctx)
	} else {
		e.index, err = from.Update(ctx, e.index, dirty)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.built = err == nil; err != nil {
		var none X
		e.index, e.stale = none, true
		return err
	}
	if e.place != nil {
		c.size += e.index.Size() - e.size
		e.size = e.index.Size()
		c.evict(e)
	}
	return nil
}

// evict drops the least recently used indexes beyond the budget, but never the entry keep.
func (c *Cache[G, K, R, X]) evict(keep *entry[K, R, X]) {
	for at := c.used.Back(); at != nil && c.size > c.o.Budget; {
		e, newer := at.Value.(*entry[K, R, X]), at.Prev()
		if e != keep {
			c.drop(e)
		}
		at = newer
	}
}

// drop removes an entry; a search that has its index goes on.
func (c *Cache[G, K, R, X]) drop(e *entry[K, R, X]) {
	c.used.Remove(e.place)
	e.place = nil
	c.size -= e.size + c.o.Entry
	group := e.key.Group()
	if delete(c.groups[group], e.key); len(c.groups[group]) == 0 {
		delete(c.groups, group)
	}
}
