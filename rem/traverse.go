package rem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// The bounds of a walk.
const (
	// maxFrontier is how many keys are read for one level, the heaviest first.
	maxFrontier = 256
	// maxEdges is how many edges of one row are followed.
	maxEdges = 1000
	// maxInward is how many edges to one row are read for one level, of each owner and
	// relation. It is more than maxFrontier, as some lead to rows that were found.
	maxInward = maxFrontier + MaxLimit
	// maxRelations is how many relations a summary lists.
	maxRelations = 50
	// maxTargets is how many targets of a relation are named.
	maxTargets = 10
)

// walk is the state of a running TRAVERSE.
type walk struct {
	*Engine
	q     Traverse
	res   *Result
	types map[string]bool
	limit int
	// seen are the keys that were read. It keeps rows from being added twice.
	seen map[string]bool
	// found are the nodes of the results; full is true if there are more.
	found []store.Node
	full  bool
}

func (e *Engine) traverse(ctx context.Context, q Traverse, res *Result) error {
	depth := limitedDepth(q)
	res.Depth = &depth
	w := &walk{Engine: e, q: q, res: res, limit: limited(q.Limit, DefaultNodes), seen: make(map[string]bool)}
	for _, t := range q.Types {
		if w.types == nil {
			w.types = make(map[string]bool)
		}
		w.types[store.NormalizeKey(t)] = true
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	if q.Plan {
		if err := w.summarize(ctx); err != nil {
			return err
		}
	}
	for from, level := 0, 1; level <= depth && from < len(w.found); level++ {
		next := len(w.found)
		if err := w.step(ctx, from, level); err != nil {
			return err
		}
		from = next
	}
	if q.Load {
		if err := e.load(ctx, w.found, res.Results); err != nil {
			return err
		}
	}
	w.sort()
	return e.suggest(ctx, res)
}

func limitedDepth(q Traverse) int {
	if q.Plan {
		return 0
	}
	return min(max(q.Depth, DefaultDepth), MaxDepth)
}

// begin finds the rows to start from.
func (w *walk) begin(ctx context.Context) error {
	keys := w.q.Keys
	if w.q.With != nil {
		inner, err := w.answer(ctx, w.q.With)
		if err != nil {
			return err
		}
		w.res.Missing, w.res.Suggestions, w.res.Notes = inner.Missing, inner.Suggestions, inner.Notes
		if keys, err = keysOf(inner); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	keys = keys[:min(len(keys), MaxLimit)]
	nodes, err := w.Knowledge.Nodes(ctx, keys)
	if err != nil {
		return err
	}
	byKey := groups(nodes)
	for _, key := range keys {
		normal := store.NormalizeKey(key)
		if w.seen[normal] {
			continue
		}
		w.seen[normal] = true
		if len(byKey[normal]) == 0 {
			w.res.Missing = append(w.res.Missing, key)
			continue
		}
		w.res.Keys = append(w.res.Keys, normal)
		for _, n := range byKey[normal] {
			w.add(n, Hop{Weight: 1, Path: []string{n.Key}})
		}
	}
	return nil
}

// keysOf returns the keys of what a query found.
func keysOf(found Result) ([]string, error) {
	var keys []string
	if found.Selection == nil {
		for _, row := range found.Results {
			keys = append(keys, row.Key)
		}
		return keys, nil
	}
	column := -1
	for _, name := range []string{"entity_key", "key", "name"} {
		if column = slices.Index(found.Selection.Columns, name); column >= 0 {
			break
		}
	}
	if column < 0 {
		return nil, withForm(traverseForm, problemf(0, "the SQL behind WITH must have a column entity_key, key or name"))
	}
	for _, row := range found.Selection.Rows {
		if key, ok := row[column].(string); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// groups returns the rows of each key, one of each kind: the caller's own before a shared
// one. Rows with edges come before those without.
func groups(nodes []store.Node) map[string][]store.Node {
	byKey := make(map[string][]store.Node, len(nodes))
	for _, n := range nodes {
		if !slices.ContainsFunc(byKey[n.Key], func(o store.Node) bool { return o.Type == n.Type }) {
			byKey[n.Key] = append(byKey[n.Key], n)
		}
	}
	for _, rows := range byKey {
		arrange.By(rows, func(a, b store.Node) int { return min(len(b.Edges), 1) - min(len(a.Edges), 1) })
	}
	return byKey
}

// add puts a row into the results, unless they are full.
func (w *walk) add(n store.Node, hop Hop) {
	if len(w.found) == w.limit {
		w.more()
		return
	}
	w.found = append(w.found, n)
	w.res.Results = append(w.res.Results, Row{Key: n.Key, EntityType: n.Type, Summary: n.Summary, Hop: &hop})
}

func (w *walk) more() {
	if !w.full {
		w.full, w.res.Truncated = true, true
		w.res.note(fmt.Sprintf("More rows hang together with these than LIMIT %d lets in.", w.limit))
	}
}

// step follows the edges of the rows from found[from], with one query, or two if it also
// follows edges that point to them.
func (w *walk) step(ctx context.Context, from, level int) error {
	edges, err := w.edges(ctx, from, maxInward)
	if err != nil {
		return err
	}
	best := make(map[string]edge)
	for _, next := range edges {
		if w.seen[next.key] {
			continue
		}
		if known, ok := best[next.key]; !ok || next.weight > known.weight {
			best[next.key] = next
		}
	}
	if len(best) == 0 {
		return nil
	}
	edges = edges[:0]
	for _, e := range best {
		edges = append(edges, e)
	}
	arrange.By(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.key, b.key)) })
	if len(w.found) == w.limit {
		w.more()
		return nil
	}
	if len(edges) > maxFrontier {
		edges = edges[:maxFrontier]
		w.res.Truncated = true
		w.res.note(fmt.Sprintf("At depth %d only the %d heaviest edges were followed.", level, maxFrontier))
	}
	keys := make([]string, len(edges))
	for i, e := range edges {
		keys[i] = e.key
		w.seen[e.key] = true
	}
	nodes, err := w.Knowledge.Nodes(ctx, keys)
	if err != nil {
		return err
	}
	byKey := groups(nodes)
	for _, e := range edges {
		for _, n := range byKey[e.key] {
			if e.link != nil && (n.Type != e.link.Type || n.TenantID != e.link.TenantID || n.Own != e.link.Own) {
				continue // another row of the key has the edge
			}
			path := w.res.Results[e.from].Path
			w.add(n, Hop{Depth: level, Relation: e.relation, Direction: e.direction(), Weight: e.weight, Path: append(slices.Clip(path), n.Key)})
		}
	}
	return nil
}

// sort puts the results into the order of the query. They are already in the default order,
// the nearest first.
func (w *walk) sort() {
	order := w.q.Order
	if order.Field == "created_at" {
		w.res.note("Edges have no time of their own: the rows are nearest first.")
	}
	compare := map[string]func(a, b Row) int{
		"depth":       func(a, b Row) int { return a.Depth - b.Depth },
		"weight":      func(a, b Row) int { return cmp.Compare(a.Weight, b.Weight) },
		"key":         func(a, b Row) int { return strings.Compare(a.Key, b.Key) },
		"relation":    func(a, b Row) int { return strings.Compare(a.Relation, b.Relation) },
		"entity_type": func(a, b Row) int { return strings.Compare(a.EntityType, b.EntityType) },
	}[order.Field]
	if compare == nil {
		return
	}
	arrange.By(w.res.Results, func(a, b Row) int {
		if order.Desc {
			a, b = b, a
		}
		return compare(a, b)
	})
}
