package catalog

import (
	"container/list"
	"slices"
	"sync"

	"github.com/p8-org/p8/agent"
)

// Stats are the counts of the cache since the start.
type Stats struct {
	Hits   uint64 `json:"hits"`
	Misses uint64 `json:"misses"`
	// Size is the number of agents kept, Capacity the most.
	Size     int `json:"size"`
	Capacity int `json:"capacity"`
}

// cache keeps the agents that were used last, by the hash of their documents.
type cache struct {
	mu       sync.Mutex
	capacity int
	byHash   map[string]*list.Element
	recent   list.List // of kept, the newest first
	hits     uint64
	misses   uint64
}

type kept struct {
	hash  string
	agent *agent.Agent
}

func newCache(capacity int) *cache {
	return &cache{capacity: capacity, byHash: make(map[string]*list.Element, capacity)}
}

// get returns the agent compiled from the text with this hash, nil if it is not cached.
func (c *cache) get(hash string) *agent.Agent {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byHash[hash]
	if !ok {
		c.misses++
		return nil
	}
	c.hits++
	c.recent.MoveToFront(e)
	return value(e).agent
}

func (c *cache) put(hash string, a *agent.Agent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byHash[hash]; ok { // another goroutine was quicker
		c.recent.MoveToFront(e)
		return
	}
	c.byHash[hash] = c.recent.PushFront(kept{hash, a})
	for c.recent.Len() > c.capacity {
		c.drop(c.recent.Back())
	}
}

func (c *cache) clear(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for e := c.recent.Front(); e != nil; {
		next := e.Next()
		if name == "" || slices.Contains(value(e).agent.Document.Names(), name) {
			c.drop(e)
			n++
		}
		e = next
	}
	return n
}

func (c *cache) drop(e *list.Element) {
	delete(c.byHash, value(e).hash)
	c.recent.Remove(e)
}

func (c *cache) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Hits: c.hits, Misses: c.misses, Size: c.recent.Len(), Capacity: c.capacity}
}

func value(e *list.Element) kept {
	k, _ := e.Value.(kept)
	return k
}
