package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/store"
)

// The bounds of hnsw.ef_search, the candidates that a search keeps at once: more
// of them find more of the true neighbours. With 8 for each row that is asked for,
// the 50 of a fusion are nearly the true ones; with 2, one in nine was missing.
const leastEf, mostEf, efPerRow = 100, 1000, 8

// vectorSettings steer one search. strict_order goes on beyond the first
// candidates until the filters have let enough of them through, nearest first;
// the plan is made for the values at hand, which is how the planner sees that a
// tenant is small enough to be read exactly.
const vectorSettings = `SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
	set_config('hnsw.ef_search', $1, true), set_config('plan_cache_mode', 'force_custom_plan', true)`

// Nearest implements store.Indexed.
func (e *engine) Nearest(ctx context.Context, sc store.Scope, q store.SearchQuery, ids []string) ([]store.Ranked, error) {
	if err := checkModel(q.Model, len(q.Vector)); err != nil {
		return nil, err
	}
	if q.Category != "" && ids == nil {
		var err error
		if ids, err = e.ofCategory(ctx, sc, q); err != nil {
			return nil, err
		}
	}
	s, err := nearestStatement(sc, q, ids)
	if err != nil {
		return nil, err
	}
	ef := min(mostEf, max(leastEf, efPerRow*q.Limit))
	var found []store.Ranked
	settings := store.Statement{SQL: vectorSettings, Args: []any{strconv.Itoa(ef)}}
	err = s.under(ctx, e, sc, settings, func(r store.Row) error {
		var x store.Ranked
		if err := r.Scan(&x.TenantID, &x.ID, &x.Score); err != nil {
			return err
		}
		if q.MinSimilarity == 0 || x.Score >= q.MinSimilarity {
			found = append(found, x)
		}
		return nil
	})
	return found, err
}

// fewRows are compared one by one; of more, a scan of the index finds enough.
const fewRows = 10_000

// ofCategory returns the ids of a category's visible rows, nil if they are many. The rows
// of a small category may be so far from the question that the scan of the index ends
// before it reaches them.
func (e *engine) ofCategory(ctx context.Context, sc store.Scope, q store.SearchQuery) ([]string, error) {
	if err := checkTable(q.Table); err != nil {
		return nil, err
	}
	s := &statement{}
	s.add(`SELECT x.id FROM %s x WHERE x.deleted_at IS NULL AND x.category = %s`, q.Table, s.arg(q.Category))
	s.add(` AND %s LIMIT %d`, visible(s, sc, q.Table, "x"), fewRows+1)
	ids := []string{}
	err := e.Read(ctx, sc, func(c store.Conn) error {
		ids = ids[:0]
		return c.Query(ctx, s.sql.String(), func(r store.Row) error {
			var id string
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		}, s.args...)
	})
	if len(ids) > fewRows {
		ids = nil
	}
	return ids, err
}

// nearestStatement ranks by the indexed type; halves are then ranked again by
// the whole vectors. Rows that are gone have no vectors, so that the rows
// themselves are looked at for their category only.
func nearestStatement(sc store.Scope, q store.SearchQuery, ids []string) (*statement, error) {
	if err := checkTable(q.Table); err != nil {
		return nil, err
	}
	s, n := &statement{}, len(q.Vector)
	vector := s.arg(q.Vector)
	whole := fmt.Sprintf("e.embedding::vector(%d) <=> %s::vector(%d)", n, vector, n)
	order, limit := whole, q.Limit
	if vectorType(n) == "halfvec" {
		order, limit = fmt.Sprintf("e.embedding::halfvec(%d) <=> %s::halfvec(%d)", n, vector, n), 2*q.Limit
	}
	s.add(`SELECT e.tenant_id, e.entity_id, 1 - (%s) AS score FROM embeddings e`, whole)
	s.add(` WHERE e.table_name = '%s' AND e.model = '%s' AND e.dimensions = %d`, q.Table, q.Model, n)
	s.add(` AND %s`, visible(s, sc, q.Table, "e"))
	if q.Field != "" {
		s.add(` AND e.field_name = %s`, s.arg(q.Field))
	}
	if q.Category != "" {
		s.add(` AND EXISTS (SELECT FROM %s x WHERE x.tenant_id = e.tenant_id AND x.id = e.entity_id AND x.category = %s)`,
			q.Table, s.arg(q.Category))
	}
	if ids != nil {
		s.add(` AND e.entity_id = ANY(%s)`, s.arg(ids))
		// This order has no index, so PostgreSQL compares these rows one by one. The scan of
		// the index might end before it reaches them.
		order, limit = "("+whole+") + 0", q.Limit
	}
	s.add(` ORDER BY %s LIMIT %d`, order, limit)
	if limit != q.Limit {
		inner := s.sql.String()
		s.sql.Reset()
		s.add(`SELECT * FROM (%s) n ORDER BY score DESC LIMIT %d`, inner, q.Limit)
	}
	return s, nil
}

// visible returns the condition of the rows of a table that sc may see.
func visible(s *statement, sc store.Scope, table, alias string) string {
	var arms []string
	for _, o := range sc.Reads(table) {
		owner := "IS NULL"
		if o.UserID != "" {
			owner = "= " + s.arg(o.UserID)
		}
		arms = append(arms, fmt.Sprintf("%s.tenant_id = %s AND %s.user_id %s", alias, s.arg(o.TenantID), alias, owner))
	}
	return "(" + strings.Join(arms, " OR ") + ")"
}
