package sqlite

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
)

// registerMerge brings p8_merge(object, add) to a connection: a JSON object with the
// keys of another one, which PostgreSQL writes ||.
func registerMerge(db *sqlite3.Conn) error {
	return db.CreateFunction("p8_merge", 2, sqlite3.DETERMINISTIC, func(c sqlite3.Context, a ...sqlite3.Value) {
		merged, _, err := store.MergeObjects(a[0].RawText(), a[1].RawText())
		switch {
		case err != nil:
			c.ResultError(err)
		case len(merged) == 0:
			c.ResultNull()
		default:
			c.ResultRawText(merged)
		}
	})
}
