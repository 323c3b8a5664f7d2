package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// TestGrowth: after a first large document PostgreSQL knows how many rows there are, and
// finds a row by its key.
func TestGrowth(t *testing.T) {
	e := openEngine(t)
	s := store.New(e)
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "u"})
	d := &store.Document{File: &store.File{Name: "book", URI: "file:///book"}}
	for i := range firstCount {
		d.Chunks = append(d.Chunks, &store.Resource{Name: fmt.Sprint("page ", i), Content: "text"})
	}
	if err := s.PutDocuments(ctx, d); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := e.ReadSystem(ctx, func(c store.Conn) error {
		return c.Query(ctx, `SELECT reltuples::int FROM pg_class WHERE oid = 'resources'::regclass`, func(r store.Row) error { return r.Scan(&rows) })
	}); err != nil || rows != firstCount {
		t.Errorf("PostgreSQL knows of %d rows, %v", rows, err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	e.Grew(canceled, 10*countAgain*firstCount) // leaves no trace
}

func TestWhenToCount(t *testing.T) {
	var g growth
	var at []int
	for range 3_000 {
		if g.add(100) {
			at = append(at, g.written)
		}
	}
	if fmt.Sprint(at) != "[200 1600 12800 102400]" {
		t.Errorf("counted after %v rows", at)
	}
}
