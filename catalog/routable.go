package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/store"
)

// Routable is what a router needs to know of an agent.
type Routable struct {
	// Name is the first of Names, all that the agent answers to.
	Name        string
	Names       []string
	Description string
	// Routing are the document's rules, nil for none; Enabled says whether sessions may
	// be routed to it.
	Routing *agent.Routing
	Enabled bool
	// MaxTurns is how long a session stays with it, 0 when it does not say.
	MaxTurns int
}

// Routable are the agents that the caller may use, by name, each as a run would find it
// at this moment. What is not valid is left out.
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
	slices.SortFunc(list, func(a, b Routable) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// maxRoutes bounds the documents whose routing is kept.
const maxRoutes = 500

// routes keeps what was read of documents, by the hash of their text: they hold nothing
// of a user, as compiled agents do not, and are much smaller. nil is no agent.
type routes struct {
	mu     sync.Mutex
	byHash map[string]*Routable
}

// of is what a document says about its routing; nil for one that is no agent, or not
// valid.
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
	if err != nil || cmp.Or(d.Kind, "agent") != "agent" {
		return nil
	}
	r := RoutableOf(d)
	return &r
}

// RoutableOf is what a document says about its routing.
func RoutableOf(d *agent.Document) Routable {
	return Routable{
		Name: d.Key(), Names: d.Names(), Description: d.Summary(), Routing: d.Routing,
		Enabled: d.RoutingEnabled == nil || *d.RoutingEnabled, MaxTurns: d.RoutingMaxTurns,
	}
}
