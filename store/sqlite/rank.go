package sqlite

import (
	"math"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/p8-org/p8/store"
)

// registerWords adds FTS5 and the ranking function ranked to a connection.
func registerWords(db *sqlite3.Conn) error {
	return fts5.RegisterCustom(db, func(api *fts5.API) error {
		return api.CreateFunction("ranked", func(row fts5.Context, c sqlite3.Context, weights ...sqlite3.Value) {
			sum, err := score(row, weights)
			if err != nil {
				c.ResultError(err)
				return
			}
			c.ResultFloat(sum)
		})
	})
}

// score returns the score of a row for terms with given weights. FTS5's BM25 does not fit:
// it weighs by the terms and lengths of all rows, other callers' included. The occurrences
// of a term and the length of the text count as in PostgreSQL's ts_rank (with normalization
// 1), so that both engines rank alike.
func score(row fts5.Context, weights []sqlite3.Value) (float64, error) {
	hits, err := row.InstCount()
	if err != nil {
		return 0, err
	}
	// The n-th time that a term occurs adds 1/n².
	var counts [2 * store.MaxTerms]int // with the tokens
	var occurs [2 * store.MaxTerms]float64
	for i := range hits {
		term, _, _, err := row.Inst(i)
		if err != nil {
			return 0, err
		}
		counts[term]++
		occurs[term] += 1 / float64(counts[term]*counts[term])
	}
	size, err := row.ColumnSize(0)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, w := range weights {
		sum += w.Float() * occurs[i]
	}
	return sum / math.Log2(float64(size)+2), nil
}
