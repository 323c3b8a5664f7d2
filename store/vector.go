package store

import (
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/p8-org/p8/store/internal/vector"
)

func (q *SearchQuery) checkVector() error {
	if len(q.Vector) == 0 || len(q.Vector) > maxDimensions {
		return invalidf("a search needs a vector of 1-%d dimensions, not %d", maxDimensions, len(q.Vector))
	}
	if q.Model == "" {
		return invalidf("a search needs the name of the model that made its vector")
	}
	zero := true
	for _, f := range q.Vector {
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return invalidf("the vector of a search holds what is no number")
		}
		zero = zero && f == 0
	}
	if zero {
		return invalidf("the vector of a search has no direction: it is all zeros")
	}
	return nil
}

// nearest ranks rows by the similarity of their vectors to the query's.
func (s *Store) nearest(ctx context.Context, sc Scope, q SearchQuery, among *choice) (ranked []Ranked, err error) {
	limit := q.Limit
	if ix, ok := s.engine.(Indexed); ok {
		if among != nil {
			q.Limit *= 2 // rows of other tenants may share the chosen rows' ids
		}
		ranked, err = ix.Nearest(ctx, sc, q, among.list())
	} else {
		err = s.engine.Read(ctx, sc, func(c Conn) (err error) {
			ranked, err = s.vectors.nearest(ctx, c, sc, q, among)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if len(ranked) == 0 {
		return nil, s.checkDimensions(ctx, sc, q)
	}
	ranked = among.keep(ranked)
	return ranked[:min(limit, len(ranked))], nil
}

// checkDimensions returns ErrInvalid if the model's stored vectors have another length
// than the query's.
func (s *Store) checkDimensions(ctx context.Context, sc Scope, q SearchQuery) error {
	return s.engine.Read(ctx, sc, func(c Conn) error {
		for _, owner := range sc.Reads(q.Table) {
			var stored int
			if found, err := one(ctx, c, `SELECT dimensions FROM embeddings WHERE tenant_id = $1 AND table_name = $2 AND model = $3
				ORDER BY dimensions = $4 DESC LIMIT 1`, []any{&stored}, owner.TenantID, q.Table, q.Model, len(q.Vector)); err != nil || !found {
				return err
			}
			if stored != len(q.Vector) {
				return invalidf("the vector has %d dimensions, those of the model %.64q have %d", len(q.Vector), q.Model, stored)
			}
		}
		return nil
	})
}

// nearest ranks the visible rows: the indexes find candidates, which the stored vectors
// rank exactly.
func (x *vectorIndexes) nearest(ctx context.Context, c Conn, sc Scope, q SearchQuery, among *choice) ([]Ranked, error) {
	owners := make(map[string][]string)
	var tenants []string
	for _, o := range sc.Reads(q.Table) {
		if !slices.Contains(tenants, o.TenantID) {
			tenants = append(tenants, o.TenantID)
		}
		owners[o.TenantID] = append(owners[o.TenantID], o.UserID)
	}
	var ranked []Ranked
	for _, tenant := range tenants {
		k := vectorKey{tenant, q.Table, q.Model, len(q.Vector)}
		f := vector.Filter{Owners: owners[tenant], Category: q.Category, IDs: among.of(tenant)}
		if err := x.candidates(ctx, c, k, q, f, func(id string, score float64) {
			if score >= q.MinSimilarity || q.MinSimilarity == 0 {
				ranked = append(ranked, Ranked{TenantID: tenant, ID: id, Score: score})
			}
		}); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(ranked, compareRanked)
	return ranked[:min(q.Limit, len(ranked))], nil
}

// candidates calls each for rows of one tenant with their cosine. The nearest rows are
// among them.
func (x *vectorIndexes) candidates(ctx context.Context, c Conn, k vectorKey, q SearchQuery, f vector.Filter, each func(string, float64)) error {
	if f.IDs != nil && len(f.IDs) == 0 {
		return nil
	}
	ix, release, err := x.open(ctx, c, k)
	if err != nil {
		return err
	}
	if ix.tooLarge {
		release()
		return stream(ctx, c, k, q, f, each)
	}
	least := -2.0
	if q.MinSimilarity != 0 {
		least = q.MinSimilarity - vector.Tolerance
	}
	hits := ix.Search(q.Vector, q.Limit+vector.Margin(q.Limit), least, f)
	release()
	if len(hits) == 0 {
		return nil
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = uuid.UUID(h.ID).String()
	}
	// No join is needed to skip deleted rows: the rows are read later, and skipped then.
	s := newQuery(`SELECT e.entity_id, e.embedding FROM embeddings e`)
	k.where(s)
	s.in(DialectSQLite, "e.entity_id", ids)
	var id string
	var stored []float32
	return c.Query(ctx, s.String(), func(r Row) error {
		if err := r.Scan(&id, &stored); err != nil {
			return err
		}
		each(id, vector.Cosine(q.Vector, stored))
		return nil
	}, s.args...)
}

// stream compares every vector of a set that is too large for an index in memory.
func stream(ctx context.Context, c Conn, k vectorKey, q SearchQuery, f vector.Filter, each func(string, float64)) error {
	var among map[vector.ID]bool
	if f.IDs != nil {
		among = make(map[vector.ID]bool, len(f.IDs))
		for _, id := range f.IDs {
			among[id] = true
		}
	}
	best := make([]Ranked, 0, q.Limit+1)
	err := eachVector(ctx, c, k, nil, func(v *vectorRow) error {
		if !slices.Contains(f.Owners, v.owner) || f.Category != "" && f.Category != v.category {
			return nil
		}
		if id, ok := vectorID(v.id); among != nil && !(ok && among[id]) {
			return nil
		}
		r := Ranked{TenantID: k.tenant, ID: v.id, Score: vector.Cosine(q.Vector, v.vector)}
		at, _ := slices.BinarySearchFunc(best, r, compareRanked)
		best = slices.Insert(best, at, r)
		best = best[:min(q.Limit, len(best))]
		return nil
	})
	for _, r := range best {
		each(r.ID, r.Score)
	}
	return err
}
