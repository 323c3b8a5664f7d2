package rem

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// edge is an edge that a walk can follow to a key.
type edge struct {
	key, relation string
	weight        float64
	// from is the index of the row that the walk comes from.
	from int
	// link is the edge if it points to that row, nil if the row has it.
	link *store.Link
}

func (e edge) direction() Direction {
	if e.link != nil {
		return In
	}
	return Out
}

// edges returns the edges to follow from the rows from found[from], at most limit of those
// that point to one row.
func (w *walk) edges(ctx context.Context, from, limit int) ([]edge, error) {
	var list []edge
	if w.q.Direction != In {
		for i, n := range w.found[from:] {
			for _, e := range n.Edges[:min(len(n.Edges), maxEdges)] {
				if next, ok := w.edge(e, from+i); ok {
					list = append(list, next)
				}
			}
		}
	}
	if w.q.Direction == Out || len(w.found) == from {
		return list, nil
	}
	at := make(map[string]int)
	var keys []string
	for i, n := range w.found[from:] {
		if _, there := at[n.Key]; !there {
			at[n.Key] = from + i
			keys = append(keys, n.Key)
		}
	}
	links, err := w.Knowledge.Inward(ctx, keys, w.q.Types, limit)
	for i, l := range links {
		list = append(list, edge{key: l.Key, relation: l.Relation, weight: l.Weight, from: at[l.Target], link: &links[i]})
	}
	return list, err
}

// edge returns an edge to follow; ok is false for one of another relation.
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

// normal is store.NormalizeKey with a shortcut for normal keys, as nearly all targets are.
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

// summarize puts the edges of the rows into the result, by relation and direction.
func (w *walk) summarize(ctx context.Context) error {
	all, err := w.edges(ctx, 0, maxEdges)
	if err != nil {
		return err
	}
	type kind struct {
		relation  string
		direction Direction
	}
	byKind := make(map[kind][]edge)
	for _, e := range all {
		k := kind{e.relation, e.direction()}
		byKind[k] = append(byKind[k], e)
	}
	out := make([]EdgeSummary, 0, len(byKind))
	for k, edges := range byKind {
		arrange.By(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.key, b.key)) })
		s := EdgeSummary{Relation: k.relation, Direction: k.direction, Count: len(edges), Targets: []string{}}
		for _, e := range edges {
			if len(s.Targets) < maxTargets && !slices.Contains(s.Targets, e.key) {
				s.Targets = append(s.Targets, e.key)
			}
		}
		if k.direction == In && len(edges) >= maxEdges {
			w.res.Truncated = true
			w.res.note(fmt.Sprintf("Of the edges %s that point to a row at most %d are counted.", k.relation, maxEdges))
		}
		out = append(out, s)
	}
	arrange.By(out, func(a, b EdgeSummary) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Direction, b.Direction))
	})
	if len(out) > maxRelations {
		w.res.note(fmt.Sprintf("Only the %d commonest of %d relations are listed.", maxRelations, len(out)))
		out = out[:maxRelations]
	}
	w.res.EdgeSummary = out
	return nil
}
