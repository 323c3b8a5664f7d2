package rem

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/p8-org/p8/store"
)

// edge is an edge to follow; ok is false for one of another relation.
func (w *walk) edge(e store.Edge, from int) (next edge, ok bool) {
	if w.types != nil && !w.types[normal(e.Relation)] {
		return edge{}, false
	}
	next = edge{key: normal(e.Target), relation: e.Relation, weight: e.Weight, from: from}
	if next.weight == 0 {
		next.weight = 1 // as in p8: an edge without a weight counts whole
	}
	return next, next.key != ""
}

// normal is store.NormalizeKey, at once for a key that is normal already, as
// nearly all targets are.
func normal(key string) string {
	dash := true
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			dash = false
		case c == '-' && !dash:
			dash = true
		default:
			return store.NormalizeKey(key)
		}
	}
	if dash {
		return store.NormalizeKey(key)
	}
	return key
}

// summary is the edges of the rows, by relation.
func (w *walk) summary() []EdgeSummary {
	byRelation := make(map[string][]edge)
	for i, n := range w.found {
		for _, e := range n.Edges[:min(len(n.Edges), maxEdges)] {
			if next, ok := w.edge(e, i); ok {
				byRelation[next.relation] = append(byRelation[next.relation], next)
			}
		}
	}
	out := make([]EdgeSummary, 0, len(byRelation))
	for relation, edges := range byRelation {
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.key, b.key)) })
		s := EdgeSummary{Relation: relation, Count: len(edges), Targets: []string{}}
		for _, e := range edges {
			if len(s.Targets) < maxTargets && !slices.Contains(s.Targets, e.key) {
				s.Targets = append(s.Targets, e.key)
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b EdgeSummary) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Relation, b.Relation)) })
	if len(out) > maxRelations {
		w.res.note(fmt.Sprintf("Only the %d commonest of %d relations are listed.", maxRelations, len(out)))
		out = out[:maxRelations]
	}
	return out
}
