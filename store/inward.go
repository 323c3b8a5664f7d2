package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/internal/arrange"
)

const (
	// maxRelation bounds the relation of an indexed edge, in characters: more would not fit
	// into a row of an index.
	maxRelation = 64
	// maxLinks bounds the result of Inward.
	maxLinks = 20_000
	// edgeBatch is how many keys one transaction of IndexEdges reads.
	edgeBatch = 200
)

// Link is an edge, seen from the key that it points to.
type Link struct {
	// Target is the key that it points to; Key, Type, TenantID and Own are those of the
	// row that has the edge.
	Target, Key, Type, TenantID string
	Own                         bool
	Relation                    string
	Weight                      float64
}

// Inward lists the edges of visible rows that point to the keys, for each key the
// heaviest first, at most limit of each key, relation and owner: the caller, its tenant,
// the system. No relations are all of them. Keys and relations are normalised as
// [NormalizeKey] does. More than 20,000 edges are cut.
func (s *Store) Inward(ctx context.Context, keys, relations []string, limit int) (links []Link, err error) {
	targets, wanted := normalized(keys), normalized(relations)
	for i := range wanted {
		wanted[i] = relationKey(wanted[i])
	}
	err = s.sharedRead(ctx, "read inward edges", func(c Conn, by caller) error {
		links = nil
		if len(keys) > maxNodes || len(relations) > maxNodes {
			return invalidf("more than %d keys or relations", maxNodes)
		}
		if len(targets) == 0 || len(relations) > 0 && len(wanted) == 0 {
			return nil
		}
		for _, o := range by.scope().KeyOwners() {
			add := func(r Row) error {
				l := Link{TenantID: o.TenantID, Own: o.UserID != ""}
				err := r.Scan(&l.Target, &l.Key, &l.Type, &l.Relation, &l.Weight)
				links = append(links, l)
				return err
			}
			if err := s.inward(ctx, c, o, targets, wanted, limit, maxLinks-len(links), add); err != nil {
				return err
			}
		}
		arrange.By(links, func(a, b Link) int {
			return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Key, b.Key),
				cmp.Compare(a.Type, b.Type), cmp.Compare(a.Relation, b.Relation))
		})
		return nil
	})
	return links, err
}

// The edges of the owner $1, $2: the $3 heaviest to the key $4, or of the relation $5 to it.
const (
	edgesTo       = ` FROM kv_edges WHERE tenant_id = $1 AND owner = $2 AND target_key = `
	edgesRelation = ` AND relation_key = `
	edgesHeaviest = ` ORDER BY weight DESC, entity_key LIMIT $3`
	edgesColumns  = `target_key, entity_key, entity_type, relation, weight`
)

func (s *Store) inward(ctx context.Context, c Conn, o RowOwner, targets, relations []string, limit, most int, add func(Row) error) error {
	if s.dialect == DialectPostgres {
		return inwardOnce(ctx, c, o, targets, relations, limit, most, add)
	}
	// SQLite has no LATERAL, and a statement costs it microseconds.
	count := func(r Row) error {
		most--
		return add(r)
	}
	for _, target := range targets {
		if most <= 0 {
			return nil
		}
		if len(relations) == 0 {
			if err := c.Query(ctx, `SELECT `+edgesColumns+edgesTo+`$4`+edgesHeaviest, count, o.TenantID, o.UserID, min(limit, most), target); err != nil {
				return err
			}
		}
		for _, relation := range relations {
			if err := c.Query(ctx, `SELECT `+edgesColumns+edgesTo+`$4`+edgesRelation+`$5`+edgesHeaviest, count,
				o.TenantID, o.UserID, max(0, min(limit, most)), target, relation); err != nil {
				return err
			}
		}
	}
	return nil
}

// inwardOnce needs one round trip for all keys and relations.
func inwardOnce(ctx context.Context, c Conn, o RowOwner, targets, relations []string, limit, most int, add func(Row) error) error {
	if most <= 0 {
		return nil
	}
	const keys, named = ` jsonb_array_elements_text($4::jsonb) AS k(value)`, `, jsonb_array_elements_text($6::jsonb) AS r(value)`
	const lateral = ` CROSS JOIN LATERAL (SELECT ` + edgesColumns + edgesTo + `k.value`
	args := []any{o.TenantID, o.UserID, limit, encodeList(targets), most}
	if len(relations) == 0 {
		return c.Query(ctx, `SELECT e.* FROM`+keys+lateral+edgesHeaviest+`) e LIMIT $5`, add, args...)
	}
	return c.Query(ctx, `SELECT e.* FROM`+keys+named+lateral+edgesRelation+`r.value`+edgesHeaviest+`) e LIMIT $5`, add, append(args, encodeList(relations))...)
}

// normalized returns the keys of texts, each once, without those that no row has.
func normalized(texts []string) []string {
	var keys []string
	for _, text := range texts {
		if key := NormalizeKey(text); key != "" && len(key) <= 4*maxName && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func relationKey(relation string) string { return clip(NormalizeKey(relation), maxRelation) }

// indexedEdges returns edges in the form of kv_edges: [target, relation key, relation, weight],
// of those with the same target and relation the heaviest.
func indexedEdges(edges []Edge) json.RawMessage {
	type place struct{ target, relation string }
	at := make(map[place]int, len(edges))
	rows := make([][4]any, 0, len(edges))
	for _, e := range edges {
		relation := cmp.Or(e.Relation, DefaultRelation)
		p := place{NormalizeKey(e.Target), relationKey(relation)}
		if p.target == "" || len(p.target) > 4*maxName {
			continue // no row has such a key
		}
		row := [4]any{p.target, p.relation, clip(relation, maxName), cmp.Or(e.Weight, 1)}
		i, there := at[p]
		switch {
		case !there:
			at[p] = len(rows)
			rows = append(rows, row)
		case row[3].(float64) > rows[i][3].(float64):
			rows[i] = row
		}
	}
	return encode(rows)
}

// putEdgesSQL adds the edges of $6 for the key $1 to $5.
var putEdgesSQL = inEachDialect(func(d Dialect) string {
	return `INSERT INTO kv_edges (tenant_id, owner, entity_key, entity_type, entity_id, target_key, relation_key, relation, weight)
		SELECT $1, $2, $3, $4, $5, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS DOUBLE PRECISION) FROM ` + d.itemsOf(`$6`) + `
		WHERE true ON CONFLICT (tenant_id, entity_type, entity_id, target_key, relation_key)
		DO UPDATE SET owner = excluded.owner, entity_key = excluded.entity_key, relation = excluded.relation, weight = excluded.weight`
})

// keyOf is the place of a row in the key index.
type keyOf struct{ tenant, owner, key, entity, id string }

// addEdges indexes more edges of a key.
func addEdges(ctx context.Context, c Conn, d Dialect, k keyOf, edges []Edge) error {
	if len(edges) == 0 {
		return nil
	}
	_, err := c.Exec(ctx, putEdgesSQL[d], k.tenant, k.owner, k.key, k.entity, k.id, indexedEdges(edges))
	return err
}

// replaceEdges indexes the edges of a key instead of those it had.
func replaceEdges(ctx context.Context, c Conn, d Dialect, k keyOf, edges []Edge) error {
	if err := dropEdges(ctx, c, k.tenant, k.entity, k.id); err != nil {
		return err
	}
	return addEdges(ctx, c, d, k, edges)
}

func dropEdges(ctx context.Context, c Conn, tenant, entity, id string) error {
	_, err := c.Exec(ctx, `DELETE FROM kv_edges WHERE tenant_id = $1 AND entity_type = $2 AND entity_id = $3`, tenant, entity, id)
	return err
}

// IndexEdges indexes the edges of rows that a program without that index wrote, in small
// transactions, and counts the rows. It costs one read if there are none.
func (m Maintenance) IndexEdges(ctx context.Context) (indexed int64, err error) {
	const waiting = `SELECT w.tenant_id, w.owner, w.entity_key, w.entity_type FROM kv_edges_waiting w`
	some := false
	if err := m.read(ctx, "look for edges to index", func(c Conn) (err error) {
		some, err = one(ctx, c, `SELECT 1 FROM kv_edges_waiting LIMIT 1`, []any{new(int)})
		return err
	}); err != nil || !some {
		return 0, err
	}
	for n := edgeBatch; n == edgeBatch; {
		err := m.write(ctx, "index edges", func(c Conn) error {
			var batch []keyOf
			if err := c.Query(ctx, waiting+` ORDER BY tenant_id, owner, entity_key, entity_type LIMIT $1`+m.store.dialect.lock(), func(r Row) error {
				var k keyOf
				err := r.Scan(&k.tenant, &k.owner, &k.key, &k.entity)
				batch = append(batch, k)
				return err
			}, edgeBatch); err != nil {
				return err
			}
			for _, k := range batch {
				if err := indexKey(ctx, c, m.store.dialect, k); err != nil {
					return err
				}
			}
			n = len(batch)
			return nil
		})
		if err != nil {
			return indexed, err
		}
		indexed += int64(n)
	}
	return indexed, nil
}

// indexKey indexes the edges of a waiting key.
func indexKey(ctx context.Context, c Conn, d Dialect, k keyOf) error {
	args := []any{k.tenant, k.owner, k.key, k.entity}
	const place = ` WHERE tenant_id = $1 AND owner = $2 AND entity_key = $3 AND entity_type = $4`
	var raw json.RawMessage
	var edges []Edge
	found, err := one(ctx, c, `SELECT entity_id, graph_edges FROM kv_store`+place+d.lock(), []any{&k.id, &raw}, args...)
	if err == nil && found {
		err = decode(raw, &edges)
	}
	if err != nil {
		return err
	}
	if found {
		if err := replaceEdges(ctx, c, d, k, edges); err != nil {
			return err
		}
	}
	_, err = c.Exec(ctx, `DELETE FROM kv_edges_waiting`+place, args...)
	return err
}
