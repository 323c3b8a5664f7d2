package store

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/p8-org/p8/store/internal/indexcache"
	"github.com/p8-org/p8/store/internal/vector"
)

const (
	// vectorBudget bounds the vector indexes together, in bytes. A set that needs more
	// by itself has no index: each search reads all its rows.
	vectorBudget = 512 << 20
	// maxDirtyVectors rows are read again, vectorBatch at a time; if more have changed,
	// the index is built anew.
	maxDirtyVectors = 20_000
	vectorBatch     = 500
)

// Group implements indexcache.Key.
func (k vectorKey) Group() vectorSet { return vectorSet{k.tenant, k.table} }

// vectorKey names a vector index.
type vectorKey struct {
	tenant, table, model string
	dimensions           int
}

// vectorSet is the rows of a table in a tenant, whatever the model.
type vectorSet struct{ tenant, table string }

// vectorIndex is the index of one key; it is empty if the set is too large.
type vectorIndex struct {
	*vector.Index
	tooLarge bool
}

// vectorIndexes keeps the vector indexes of an engine that has none of its own. Rows are
// marked by their ids.
type vectorIndexes struct {
	*indexcache.Cache[vectorSet, vectorKey, string, vectorIndex]
	budget int
}

func newVectorIndexes(budget int) *vectorIndexes {
	return &vectorIndexes{budget: budget, Cache: indexcache.New[vectorSet, vectorKey, string, vectorIndex](
		indexcache.Options{Budget: budget, Entry: 1024, MaxDirty: maxDirtyVectors})}
}

// open returns the index of a key, locked for reading until release.
func (x *vectorIndexes) open(ctx context.Context, c Conn, k vectorKey) (ix vectorIndex, release func(), err error) {
	return x.Open(ctx, k, &vectorRows{c, k, x.budget})
}

// vectorRows reads the vectors of a key for its index, which may take up to most bytes.
type vectorRows struct {
	c    Conn
	key  vectorKey
	most int
}

// Build reads all vectors, unless they are too many.
func (s *vectorRows) Build(ctx context.Context) (ix vectorIndex, err error) {
	rows := 0
	if _, err := one(ctx, s.c, `SELECT count(*) FROM embeddings WHERE tenant_id = $1 AND table_name = $2 AND model = $3`,
		[]any{&rows}, s.key.tenant, s.key.table, s.key.model); err != nil {
		return ix, err
	}
	if vector.Needs(s.key.dimensions, rows) > s.most {
		return vectorIndex{vector.New(s.key.dimensions, 0), true}, nil
	}
	ix.Index = vector.New(s.key.dimensions, rows)
	err = s.read(ctx, ix, nil)
	ix.Tune()
	return ix, err
}

// Update reads the vectors of rows again. A set that was too large may have shrunk.
func (s *vectorRows) Update(ctx context.Context, ix vectorIndex, rows map[string]bool) (vectorIndex, error) {
	if ix.tooLarge {
		return s.Build(ctx)
	}
	ids := make([]string, 0, len(rows))
	for id := range rows {
		ids = append(ids, id)
		if v, ok := vectorID(id); ok {
			ix.Delete(v)
		}
	}
	for batch := range slices.Chunk(ids, vectorBatch) {
		if err := s.read(ctx, ix, batch); err != nil {
			return ix, err
		}
	}
	ix.Tune()
	return ix, nil
}

// read puts the vectors of ids into the index, or all if ids is nil.
func (s *vectorRows) read(ctx context.Context, ix vectorIndex, ids []string) error {
	return eachVector(ctx, s.c, s.key, ids, func(v *vectorRow) error {
		if id, ok := vectorID(v.id); ok {
			ix.Put(vector.Row{ID: id, Owner: v.owner, Category: v.category, Vector: v.vector})
		}
		return nil
	})
}

// vectorID names a row in an index of vectors.
func vectorID(id string) (vector.ID, bool) {
	u, err := uuid.Parse(id)
	return vector.ID(u), err == nil
}

// where adds the condition that selects the key's vectors, with the alias e.
func (k vectorKey) where(q *query) {
	q.add(` WHERE e.tenant_id = `).arg(k.tenant)
	q.add(` AND e.table_name = `).arg(k.table)
	q.add(` AND e.model = `).arg(k.model)
	q.add(` AND e.dimensions = `).arg(k.dimensions)
}

// vectorRow is a stored vector with the columns of its row that searches filter by.
type vectorRow struct {
	id, owner, category string
	vector              []float32
}

// eachVector reads the vectors of ids, or all of the key if ids is nil. The row passed to
// each is reused. All vectors are read a page at a time, as in keyRows.Build.
func eachVector(ctx context.Context, c Conn, k vectorKey, ids []string, each func(*vectorRow) error) error {
	category := "NULL"
	if hasCategory(tableNamed(k.table)) {
		category = "x.category"
	}
	var v vectorRow
	var field string
	for n := indexPage; n == indexPage; {
		q := newQuery(`SELECT e.entity_id, e.user_id, ` + category + `, e.embedding, e.field_name FROM embeddings e
			JOIN ` + k.table + ` x ON x.tenant_id = e.tenant_id AND x.id = e.entity_id AND x.deleted_at IS NULL`)
		k.where(q)
		if ids != nil {
			q.in(DialectSQLite, "e.entity_id", ids)
		} else {
			q.add(` AND (e.entity_id, e.field_name) > (`).arg(v.id)
			q.add(`, `).arg(field)
			q.add(`) ORDER BY e.entity_id, e.field_name LIMIT `).arg(indexPage)
		}
		n = 0
		if err := c.Query(ctx, q.String(), func(r Row) error {
			n++
			if err := r.Scan(&v.id, &v.owner, &v.category, &v.vector, &field); err != nil {
				return err
			}
			return each(&v)
		}, q.args...); err != nil {
			return err
		}
		if ids != nil {
			return nil
		}
	}
	return nil
}
