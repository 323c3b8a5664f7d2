package sqlite

import (
	"slices"
	"testing"

	"github.com/p8-org/p8/store"
)

// The list of tables says what the database has, but for the bytes of images, the
// count of hidden messages, the owner in the keys and how far a session is summed up.
func TestTables(t *testing.T) {
	e := testEngine(t)
	types := map[string]string{"text": "TEXT", "timestamp": "TEXT", "json": "TEXT", "integer": "INTEGER", "number": "REAL"}
	for _, table := range store.Tables() {
		if table.Stored() != table.Name {
			continue
		}
		var got, want []string
		err := e.ReadSystem(t.Context(), func(c store.Conn) error {
			return c.Query(t.Context(), `SELECT name, type FROM pragma_table_xinfo($1)`, func(r store.Row) error {
				var name, kind string
				err := r.Scan(&name, &kind)
				got = append(got, name+" "+kind)
				return err
			}, table.Name)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range table.Columns {
			want = append(want, c.Name+" "+types[c.Type])
		}
		switch table.Name {
		case "messages":
			want = append(want, "parts TEXT", "owner TEXT", "cut INTEGER", "client_message_id TEXT", "author TEXT")
		case "sessions":
			want = append(want, "owner TEXT", "dropped_messages INTEGER", "summary_seq INTEGER", "summary_tokens INTEGER", "chunks INTEGER", "memory_seq INTEGER",
				"named INTEGER", "archived INTEGER")
		case "moments":
			want = append(want, "first_seq INTEGER", "last_seq INTEGER")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v,\nsays %v", table.Name, got, want)
		}
		if table.Description == "" || table.Type == "" {
			t.Errorf("%s is not described", table.Name)
		}
	}
}
