package store

import (
	"context"
	"encoding/json"
	"slices"
)

// maxNodes bounds the keys and nodes of one call.
const maxNodes = 10_000

// Nodes returns every visible row of the key index with one of these keys
// (normalised as [NormalizeKey] does), the caller's own first, then its tenant's
// shared ones, then the system's; within those by key and type. More than 10,000
// keys are ErrInvalid.
func (s *Store) Nodes(ctx context.Context, keys []string) ([]Node, error) {
	var nodes []Node
	err := s.sharedRead(ctx, "read nodes", func(c Conn, by caller) error {
		nodes = nil
		if len(keys) > maxNodes {
			return invalidf("more than %d keys", maxNodes)
		}
		wanted := make([]string, 0, len(keys))
		for _, key := range keys {
			if key = NormalizeKey(key); key != "" && len(key) <= 4*maxName {
				wanted = append(wanted, key)
			}
		}
		if len(wanted) == 0 {
			return nil
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		for _, o := range by.scope().KeyOwners() {
			q := newQuery(`SELECT entity_key, entity_type, entity_id, content_summary, metadata, graph_edges FROM kv_store
				WHERE tenant_id = `)
			q.arg(o.TenantID)
			q.add(` AND owner = `).arg(o.UserID)
			q.in(s.dialect, "entity_key", wanted)
			q.add(` ORDER BY entity_key, entity_type`)
			if err := c.Query(ctx, q.String(), func(r Row) error {
				n := Node{Own: o.UserID != "", TenantID: o.TenantID}
				var edges json.RawMessage
				if err := r.Scan(&n.Key, &n.Type, &n.ID, &n.Summary, &n.Metadata, &edges); err != nil {
					return err
				}
				if err := decode(edges, &n.Edges); err != nil {
					return err
				}
				if n.Type == TypeSchema && s.reserved.ignores(o.TenantID, o.UserID, n.Key) {
					return nil
				}
				nodes = append(nodes, n)
				return nil
			}, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
	return nodes, err
}

// Load reads the whole rows of nodes, as JSON, in their order; nil for one that
// is gone or that the caller may not see. More than 10,000 nodes are ErrInvalid.
func (s *Store) Load(ctx context.Context, nodes ...Node) ([]json.RawMessage, error) {
	rows := make([]json.RawMessage, len(nodes))
	err := s.sharedRead(ctx, "load nodes", func(c Conn, by caller) error {
		if len(nodes) > maxNodes {
			return invalidf("more than %d nodes", maxNodes)
		}
		for _, t := range tables {
			var ids []string
			for _, n := range nodes {
				if n.Type == t.Type {
					ids = append(ids, n.ID)
				}
			}
			if len(ids) == 0 || t.new == nil {
				continue
			}
			if err := s.loadNodes(ctx, c, by, t, ids, nodes, rows); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// loadNodes reads the rows of one table. Rows of two tenants may have the same id; for a
// node without a tenant it takes the nearest one.
func (s *Store) loadNodes(ctx context.Context, c Conn, by caller, t *table, ids []string, nodes []Node, rows []json.RawMessage) error {
	type place struct{ tenant, id string }
	found := make(map[place]json.RawMessage)
	q, order := t.visibleOf(s.dialect, by, ids)
	q.add(` ORDER BY ` + order)
	if err := t.readJSON(ctx, c, q, func(tenant string, rec record, data json.RawMessage) {
		for _, at := range []place{{tenant, *rec.place().id}, {"", *rec.place().id}} {
			if found[at] == nil {
				found[at] = data
			}
		}
	}); err != nil {
		return err
	}
	for i, n := range nodes {
		if n.Type == t.Type {
			rows[i] = found[place{n.TenantID, n.ID}]
		}
	}
	return nil
}
