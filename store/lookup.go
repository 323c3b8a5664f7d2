package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/identity"
)

// KeyOwners lists whose keys the scope sees in the key index, the nearest
// first: its own, its tenant's shared ones, the system's. UserID is the owner
// column: "" of shared rows; an anonymous caller's private rows have an owner
// that is no user id.
func (sc Scope) KeyOwners() []RowOwner {
	list := []RowOwner{{sc.Tenant, cmp.Or(sc.User, anonymousOwner)}, {TenantID: sc.Tenant}}
	if sc.Tenant != identity.SystemTenant {
		list = append(list, RowOwner{TenantID: identity.SystemTenant})
	}
	return list
}

// scope is the caller as engines know it.
func (sc scope) scope() Scope { return Scope{sc.TenantID, sc.UserID} }

// Lookup finds rows by key (normalised as [NormalizeKey] does), whole rows in
// Data: the caller's own first, then its tenant's shared ones, then the
// system's; within those by type. No match is an empty list.
func (s *Store) Lookup(ctx context.Context, key string) ([]Match, error) {
	var found []Match
	err := s.read(ctx, "lookup", func(c Conn, sc scope) error {
		key := NormalizeKey(key)
		if key == "" || len(key) > 4*maxName {
			return nil
		}
		find := s.lookup
		if s.dialect == DialectPostgres {
			find = s.lookupOnce
		}
		hits, err := find(ctx, c, sc, key)
		if err != nil {
			return err
		}
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.Type == TypeSchema && s.reserved.ignores(h.tenant, h.owner, key) })
		slices.SortFunc(hits, func(a, b hit) int {
			return cmp.Or(cmp.Compare(distance(a.tenant, a.owner), distance(b.tenant, b.owner)), cmp.Compare(a.Type, b.Type))
		})
		found = make([]Match, len(hits))
		for i, h := range hits {
			found[i] = h.Match
		}
		return nil
	})
	return found, err
}

// lookup finds what a key stands for, with the rows; in no order. The statements
// are one transaction of SQLite, which takes its locks once then, and shows key
// and row as they were at one moment.
func (s *Store) lookup(ctx context.Context, c Conn, sc scope, key string) (hits []hit, err error) {
	if _, err := c.Exec(ctx, `BEGIN`); err != nil {
		return nil, err
	}
	defer func() {
		_, e := c.Exec(context.WithoutCancel(ctx), `COMMIT`)
		err = cmp.Or(err, e)
	}()
	if err := c.Query(ctx, lookupKeys,
		func(r Row) error {
			h := hit{Match: Match{Key: key, Score: 1}}
			if err := r.Scan(&h.tenant, &h.owner, &h.Type, &h.ID, &h.Summary); err != nil {
				return err
			}
			h.Own = h.owner != ""
			hits = append(hits, h)
			return nil
		}, sc.TenantID, sc.keyOwner(), identity.SystemTenant, key); err != nil {
		return nil, err
	}
	found := hits[:0]
	for _, h := range hits {
		t := tableOf(h.Type)
		if t == nil {
			continue
		}
		f := newFields(len(t.columns))
		if err := c.Query(ctx, t.byID, func(r Row) (err error) {
			h.Data, err = f.data(r, t.new())
			return err
		}, h.tenant, h.ID); err != nil {
			return nil, err
		}
		if h.Data != nil {
			found = append(found, h)
		}
	}
	return found, nil
}

// lookupKeys are three steps in one index, which is twice as fast as an OR. In
// the system's tenant the last one is the second.
const lookupKeys = `SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
	WHERE tenant_id = $1 AND owner = $2 AND entity_key = $4
	UNION ALL SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
	WHERE tenant_id = $1 AND owner = '' AND entity_key = $4
	UNION ALL SELECT tenant_id, owner, entity_type, entity_id, content_summary FROM kv_store
	WHERE tenant_id = $3 AND owner = '' AND entity_key = $4 AND tenant_id <> $1`

// keyOwner is the owner of the caller's own keys.
func (sc scope) keyOwner() string { return cmp.Or(sc.UserID, anonymousOwner) }

// hit is a match and where it was found.
type hit struct {
	Match
	tenant, owner string
}

// distance orders what a caller sees: its own, its tenant's, the system's.
func distance(tenant, owner string) int {
	switch {
	case owner != "":
		return 0
	case tenant != identity.SystemTenant:
		return 1
	}
	return 2
}

// maxNodes bounds the keys and nodes of one call.
const maxNodes = 10_000

// Nodes is every visible row of the key index with one of these keys
// (normalised as [NormalizeKey] does), the caller's own first, then its tenant's
// shared ones, then the system's; within those by key and type. More than 10,000
// keys are ErrInvalid.
func (s *Store) Nodes(ctx context.Context, keys []string) ([]Node, error) {
	var nodes []Node
	err := s.sharedRead(ctx, "read nodes", func(c Conn, sc scope) error {
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
		for _, o := range sc.scope().KeyOwners() {
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
	err := s.sharedRead(ctx, "load nodes", func(c Conn, sc scope) error {
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
			if err := s.loadNodes(ctx, c, sc, t, ids, nodes, rows); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// loadNodes reads the rows of one table. Several tenants may have a row of one id:
// without the node's the nearest counts.
func (s *Store) loadNodes(ctx context.Context, c Conn, sc scope, t *table, ids []string, nodes []Node, rows []json.RawMessage) error {
	type place struct{ tenant, id string }
	found := make(map[place]json.RawMessage)
	q, order := t.visibleOf(s.dialect, sc, ids)
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
