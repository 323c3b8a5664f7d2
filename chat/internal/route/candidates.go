package route

import (
	"cmp"
	"context"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/routing"
)

// Lister lists the agents that a session may be routed to. A Catalog may implement it.
type Lister interface {
	Routable(ctx context.Context) ([]catalog.Routable, error)
}

// maxCandidates bounds the agents from which one is chosen.
const maxCandidates = 200

// candidates returns the agents that a session may be routed to: those that the fallback's
// document lists, in its order, then those whose documents have rules, then the active
// one and the one that would take over. None of them has routing_enabled: false.
func (r *Router) candidates(ctx context.Context, fallback *agent.Agent, state routing.State) []routing.Candidate {
	known := r.routable(ctx, fallback, state)
	var out []routing.Candidate
	taken := map[string]bool{}
	add := func(a catalog.Routable, description string) {
		if !taken[a.Name] && a.Enabled {
			out = append(out, routing.Candidate{
				Name: a.Name, Description: cmp.Or(description, a.Description), Routing: a.Routing, MaxTurns: a.MaxTurns,
			})
		}
		taken[a.Name] = true
	}
	named := func(name, description string) {
		i := slices.IndexFunc(known, func(a catalog.Routable) bool {
			return slices.Contains(a.Names, name) || slices.Contains(a.Names, agent.Kebab(name))
		})
		if name != "" && i >= 0 {
			add(known[i], description)
		}
	}
	for _, ref := range fallback.Document.Agents {
		named(ref.Name, ref.Description)
	}
	for _, a := range known {
		if a.Routing != nil && len(out) < maxCandidates {
			add(a, "")
		}
	}
	if !routing.Same(state.Active, fallback.Name) {
		named(state.Active, "")
	}
	named(state.Escalation, "")
	return out
}

// routable returns the agents that the catalog lists; if it lists none, those that the
// fallback's document and the routing name.
func (r *Router) routable(ctx context.Context, fallback *agent.Agent, state routing.State) []catalog.Routable {
	if l, ok := r.o.Catalog.(Lister); ok {
		known, err := l.Routable(ctx)
		if err != nil {
			r.o.Logger.ErrorContext(ctx, "the agents could not be listed", "error", err)
		}
		return known
	}
	var known []catalog.Routable
	names := []string{state.Active, state.Escalation}
	for _, ref := range fallback.Document.Agents {
		names = append(names, ref.Name)
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		if a, err := r.o.Catalog.Agent(ctx, name); err == nil {
			known = append(known, catalog.RoutableOf(a.Document))
		}
	}
	return known
}

// candidate returns the agent as routing knows it.
func candidate(a *agent.Agent) routing.Candidate {
	return routing.Candidate{Name: a.Name, Routing: a.Document.Routing, MaxTurns: a.Document.RoutingMaxTurns}
}
