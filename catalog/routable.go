package catalog

import (
	"context"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// Routable describes an agent to a router.
type Routable struct {
	// Name is the first of Names, all that the agent answers to.
	Name        string
	Names       []string
	Description string
	// Routing are the document's rules, nil for none; Enabled reports whether sessions may
	// be routed to it.
	Routing *agent.Routing
	Enabled bool
	// MaxTurns bounds the turns that a session stays with it; 0 if the document has no bound.
	MaxTurns int
}

// Routable returns the agents that the caller may use, by name, each as a run would find
// it now. It leaves out documents that are not valid.
func (c *Catalog) Routable(ctx context.Context) ([]Routable, error) {
	var list []Routable
	taken := map[string]bool{}
	add := func(name string, r *Routable) {
		if !taken[name] && r != nil {
			list = append(list, *r)
		}
		taken[name] = true
	}
	err := c.eachRow(ctx, func(row *store.Schema) bool {
		r := c.routes.of(rowSource(row))
		if r != nil {
			own := *r
			own.Names = c.ownNames(row, r.Names)
			r = &own
		}
		add(row.Name, r)
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, s := range c.sources() {
		add(s.name(), c.routes.of(s))
	}
	arrange.By(list, func(a, b Routable) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// maxRoutes bounds the documents whose routing is kept.
const maxRoutes = 500

// routes caches the routing of documents by the hash of their text; nil is no agent.
// Routing holds no data of a user and is much smaller than a compiled agent.
type routes struct {
	mu     sync.Mutex
	byHash map[string]*Routable
}

// of returns the routing of a document, nil if it is no agent or not valid.
func (r *routes) of(s *source) *Routable {
	if s.problems != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.byHash[s.hash]; ok {
		return found
	}
	if len(r.byHash) >= maxRoutes || r.byHash == nil {
		r.byHash = make(map[string]*Routable)
	}
	read := routable(s)
	r.byHash[s.hash] = read
	return read
}

func routable(s *source) *Routable {
	d, err := agent.Parse(s.file, s.text)
	if err != nil || d.Is() != agent.KindAgent {
		return nil
	}
	r := RoutableOf(d)
	return &r
}

// RoutableOf returns the routing of a document.
func RoutableOf(d *agent.Document) Routable {
	return Routable{
		Name: d.Key(), Names: d.Names(), Description: d.Summary(), Routing: d.Routing,
		Enabled: d.RoutingEnabled == nil || *d.RoutingEnabled, MaxTurns: d.RoutingMaxTurns,
	}
}
