package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/arrange"
)

// The statuses of a Linked.
const (
	LinkDone     = "linked"
	LinkNotFound = "not_found"
	LinkShared   = "shared"
	LinkFull     = "full"
)

// Linked is the result of the edge back for one edge of a moment.
type Linked struct {
	Target string `json:"target"`
	// Status is linked; not_found; shared, if the row is not the caller's own and so gets
	// no edge, which others would see; or full, if the row has the most edges that a row
	// may have.
	Status string `json:"status"`
}

// PutLinked stores moments as Put with Merge does, and adds to every row that their edges
// point to an edge back to the moment, with the relation back and the edge's weight, in
// one transaction. A row keeps its edges; of two with the same target and relation it
// keeps the heavier one. PutLinked returns one result for each edge.
func (s *Store) PutLinked(ctx context.Context, back string, ms ...*Moment) ([]Linked, error) {
	if err := cleanText("relation", &back); err != nil {
		return nil, missingFirst(ctx, err)
	}
	back = cmp.Or(back, DefaultRelation)
	// The moments as given, before they are merged with the stored ones.
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

// putMerged is put with Merge that also keeps the edges of the stored moment.
func (w *writer) putMerged(ctx context.Context, m *Moment) error {
	p, err := moments.place(ctx, w.c, w.store.dialect.lock(), w.by, w.by.user, m)
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

// linkBack adds an edge to a moment to the caller's own rows of a key, except the moment
// itself.
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
		case h.tenant == w.by.TenantID && (h.owner != "" || w.by.Anonymous() && w.by.MayShare()):
			own = append(own, h)
		default:
			status = LinkShared
		}
		return nil
	}, w.by.TenantID, w.by.keyOwner(), identity.SystemTenant, NormalizeKey(key)); err != nil {
		return "", err
	}
	// Every transaction locks rows in this order, so that no two deadlock.
	arrange.By(own, func(a, b hit) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	for _, h := range own {
		if t := tableOf(h.Type); t != nil && t.linked() {
			if status, err = w.addEdge(ctx, t, h.ID, e); err != nil {
				return "", err
			}
		}
	}
	return status, nil
}

// addEdge adds an edge to a row of the caller's tenant and to its key.
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
		if _, err := w.c.Exec(ctx, sql, w.by.TenantID, id, w.by.seal.value("graph_edges", encodeList(merged)), w.now); err != nil {
			return "", err
		}
	}
	k := keyOf{tenant: w.by.TenantID, entity: t.Type, id: id}
	if found, err = one(ctx, w.c, `SELECT owner, entity_key FROM kv_store WHERE tenant_id = $1 AND entity_type = $2 AND entity_id = $3`,
		[]any{&k.owner, &k.key}, k.tenant, k.entity, k.id); err != nil || !found {
		return LinkDone, err
	}
	return LinkDone, addEdges(ctx, w.c, w.store.dialect, k, []Edge{e})
}

// linked reports whether the table has a column of edges.
func (t *table) linked() bool {
	return slices.ContainsFunc(t.columns, func(c ColumnInfo) bool { return c.Name == "graph_edges" })
}

// MergeEdges returns old with the edges of add. Of two with the same target and relation
// it keeps the heavier one. Targets are the same if their keys are.
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
