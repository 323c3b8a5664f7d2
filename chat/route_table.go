package chat

import (
	"cmp"
	"context"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/routing"
)

// Lister lists the agents that a session may be routed to; a Catalog that is one lets
// clients leave the choice to p8. *catalog.Catalog is one.
type Lister interface {
	Routable(ctx context.Context) ([]catalog.Routable, error)
}

// maxCandidates bounds the agents among which is chosen.
const maxCandidates = 200

// candidates are the agents that a session may be routed to: those that the fallback's
// document lists, in its order, then those whose documents have rules, then the one that
// answers now and the one that would take over, wherever they came from. None of them
// has routing_enabled: false.
func (s *Service) candidates(ctx context.Context, fallback *agent.Agent, state routing.State) []routing.Candidate {
	known := s.routable(ctx, fallback, state)
	var out []routing.Candidate
	taken := map[string]bool{}
	add := func(r catalog.Routable, description string) {
		if !taken[r.Name] && r.Enabled {
			out = append(out, routing.Candidate{
				Name: r.Name, Description: cmp.Or(description, r.Description), Routing: r.Routing, MaxTurns: r.MaxTurns,
			})
		}
		taken[r.Name] = true
	}
	named := func(name, description string) {
		i := slices.IndexFunc(known, func(r catalog.Routable) bool {
			return slices.Contains(r.Names, name) || slices.Contains(r.Names, agent.Kebab(name))
		})
		if name != "" && i >= 0 {
			add(known[i], description)
		}
	}
	for _, ref := range fallback.Document.Agents {
		named(ref.Name, ref.Description)
	}
	for _, r := range known {
		if r.Routing != nil && len(out) < maxCandidates {
			add(r, "")
		}
	}
	if !routing.Same(state.Active, fallback.Name) {
		named(state.Active, "")
	}
	named(state.Escalation, "")
	return out
}

// routable are the agents that there are; of a catalog that lists none, those that
// somebody names.
func (s *Service) routable(ctx context.Context, fallback *agent.Agent, state routing.State) []catalog.Routable {
	if l, ok := s.o.Catalog.(Lister); ok {
		known, err := l.Routable(ctx)
		if err != nil {
			s.o.Logger.ErrorContext(ctx, "the agents could not be listed", "error", err)
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
		if a, err := s.o.Catalog.Agent(ctx, name); err == nil {
			known = append(known, catalog.RoutableOf(a.Document))
		}
	}
	return known
}

// candidate is an agent to which the session is handed.
func candidate(a *agent.Agent) routing.Candidate {
	return routing.Candidate{Name: a.Name, Routing: a.Document.Routing, MaxTurns: a.Document.RoutingMaxTurns}
}
