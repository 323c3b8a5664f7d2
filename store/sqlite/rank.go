package sqlite

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"p8/store"
)

// registerWords brings FTS5 and its function ranked to a connection.
func registerWords(db *sqlite3.Conn) error {
	return fts5.RegisterCustom(db, func(api *fts5.API) error {
		return api.CreateFunction("ranked", func(row fts5.Context, c sqlite3.Context, weights ...sqlite3.Value) {
			score, err := bm25(row, weights)
			if err != nil {
				c.ResultError(err)
				return
			}
			c.ResultFloat(score)
		})
	})
}

// bm25 is the score of a row (Robertson and Zaragoza 2009), where the weights of
// the terms are given: FTS5's own function counts how rare a term is over the
// whole database, thus also by the rows of others.
func bm25(row fts5.Context, weights []sqlite3.Value) (float64, error) {
	const k1, b = 1.2, 0.75
	hits, err := row.InstCount()
	if err != nil {
		return 0, err
	}
	var counts [store.MaxTerms]int
	for i := range hits {
		phrase, _, _, err := row.Inst(i)
		if err != nil {
			return 0, err
		}
		counts[phrase]++
	}
	size, err := row.ColumnSize(0)
	if err != nil {
		return 0, err
	}
	rows, err := row.RowCount()
	if err != nil {
		return 0, err
	}
	total, err := row.ColumnTotalSize(0)
	if err != nil {
		return 0, err
	}
	relative := float64(size) * float64(rows) / float64(max(1, total))
	score := 0.0
	for i, w := range weights {
		tf := float64(counts[i])
		score += w.Float() * tf * (k1 + 1) / (tf + k1*(1-b+b*relative))
	}
	return score, nil
}
