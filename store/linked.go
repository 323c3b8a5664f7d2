package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/identity"
)

// The statuses of a Linked.
const (
	LinkDone     = "linked"
	LinkNotFound = "not_found"
	LinkShared   = "shared"
	LinkFull     = "full"
)

// Linked says what became of an edge's way back.
type Linked struct {
	Target string `json:"target"`
	// Status is linked, not_found, shared for a row that is not the caller's own:
	// others would see the edge, so it has none; or full for one that has as many edges
	// as a row may have.
	Status string `json:"status"`
}

// PutLinked stores moments as Put with Merge does, and gives every row that one of
// their edges points to an edge back to the moment, of the relation back and with the
// edge's weight, in one transaction. The edges that a row has stay: of two with the
// same target and relation, the one of greater weight. It answers once for each edge.
func (s *Store) PutLinked(ctx context.Context, back string, ms ...*Moment) ([]Linked, error) {
	if err := cleanText("relation", &back); err != nil {
		return nil, missingFirst(ctx, err)
	}
	back = cmp.Or(back, DefaultRelation)
	// What the moments say, before they are merged with what is there.
	said := make([]Moment, len(ms))
	for i, m := range ms {
		said[i] = *m
	}
	var list []Linked
	err := s.writing(ctx, "store linked moments", func(w *writer) error {
		list = nil
		for i, m := range ms {
			*m = said[i]
			if err := w.putMerged(ctx, m); err != nil {
				return err
			}
		}
		for i, m := range ms {
			for _, e := range said[i].GraphEdges {
				status, err := w.linkBack(ctx, m, e.Target, Edge{Target: m.Name, Relation: back, Weight: e.Weight, Reason: e.Reason})
				if err != nil {
					return err
				}
				list = append(list, Linked{e.Target, status})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// putMerged is put with Merge, that keeps the edges of the moment that is there.
func (w *writer) putMerged(ctx context.Context, m *Moment) error {
	p, err := moments.place(ctx, w.c, w.store.dialect, w.by, w.by.user, m)
	if err != nil {
		return err
	}
	if p.live {
		m.GraphEdges = MergeEdges(p.old.(*Moment).GraphEdges, m.GraphEdges)
		merge(m, p.old, nil)
	}
	if err := m.check(); err != nil {
		return err
	}
	return w.replace(ctx, moments, p, m, w.by.user)
}

// linkBack gives the caller's own rows of a key an edge to a moment, but for the
// moment itself.
func (w *writer) linkBack(ctx context.Context, m *Moment, key string, e Edge) (status string, err error) {
	var own []hit
	status = LinkNotFound
	if err := w.c.Query(ctx, lookupKeys, func(r Row) error {
		var h hit
		if err := r.Scan(&h.tenant, &h.owner, &h.Type, &h.ID, &h.Summary); err != nil {
			return err
		}
		switch {
		case h.Type == TypeMoment && h.ID == m.ID:
			status = LinkDone
		case h.tenant == w.by.TenantID && (h.owner != "" || w.by.Anonymous() && !w.by.SharedReadOnly):
			own = append(own, h)
		default:
			status = LinkShared
		}
		return nil
	}, w.by.TenantID, w.by.keyOwner(), identity.SystemTenant, NormalizeKey(key)); err != nil {
		return "", err
	}
	// Whoever links several rows takes them in this order.
	slices.SortFunc(own, func(a, b hit) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	for _, h := range own {
		if t := tableOf(h.Type); t != nil && t.linked() {
			if status, err = w.addEdge(ctx, t, h.ID, e); err != nil {
				return "", err
			}
		}
	}
	return status, nil
}

// addEdge gives a row of the caller's tenant an edge, in its key too.
func (w *writer) addEdge(ctx context.Context, t *table, id string, e Edge) (status string, err error) {
	var raw json.RawMessage
	var old []Edge
	found, err := one(ctx, w.c, `SELECT graph_edges FROM `+t.Name+` WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`+
		w.store.dialect.lock(), []any{&raw}, w.by.TenantID, id)
	if err == nil {
		err = decode(raw, &old)
	}
	if err != nil || !found {
		return LinkNotFound, err
	}
	merged := MergeEdges(old, []Edge{e})
	switch {
	case len(merged) > maxList:
		return LinkFull, nil
	case slices.Equal(merged, old):
		return LinkDone, nil
	}
	for _, sql := range []string{
		`UPDATE ` + t.Name + ` SET graph_edges = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2`,
		`UPDATE kv_store SET graph_edges = $3, updated_at = $4 WHERE tenant_id = $1 AND entity_type = '` + t.Type + `' AND entity_id = $2`,
	} {
		if _, err := w.c.Exec(ctx, sql, w.by.TenantID, id, encodeList(merged), w.now); err != nil {
			return "", err
		}
	}
	return LinkDone, nil
}

// linked reports whether the table's rows have edges.
func (t *table) linked() bool {
	return slices.ContainsFunc(t.columns, func(c ColumnInfo) bool { return c.Name == "graph_edges" })
}

// MergeEdges is old with the edges of add: of two with the same target and relation,
// the one of greater weight. Targets are the same when their keys are.
func MergeEdges(old, add []Edge) []Edge {
	type place struct{ key, relation string }
	of := func(e Edge) place { return place{NormalizeKey(e.Target), cmp.Or(e.Relation, DefaultRelation)} }
	merged := slices.Clone(old)
	at := make(map[place]int, len(old)+len(add))
	for i, e := range merged {
		at[of(e)] = i
	}
	for _, e := range add {
		i, there := at[of(e)]
		switch {
		case !there:
			at[of(e)] = len(merged)
			merged = append(merged, e)
		case e.Weight > merged[i].Weight:
			merged[i] = e
		}
	}
	return merged
}
