package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs/mvcc"

	"github.com/p8-org/p8/store"
)

// again gives every transaction up once at its end and runs it again, as PostgreSQL's
// engine does after a deadlock.
type again struct{ *engine }

var errDeadlock = errors.New("a deadlock")

func (e again) Write(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return e.WriteSystem(ctx, e.of(sc, fn))
}

func (e again) WriteSystem(ctx context.Context, fn func(store.Conn) error) error {
	err := e.engine.WriteSystem(ctx, func(c store.Conn) error {
		if err := fn(c); err != nil {
			return err
		}
		return errDeadlock
	})
	if errors.Is(err, errDeadlock) {
		return e.engine.WriteSystem(ctx, fn)
	}
	return err
}

// TestRebuildKeysRunsAgain: no row is skipped whose transaction runs again.
func TestRebuildKeysRunsAgain(t *testing.T) {
	e, ctx := memoryEngine(t, mvcc.Snapshot{}), caller(t.Context())
	s := store.New(again{e})
	var many []*store.Resource
	for i := range 450 { // several batches
		many = append(many, &store.Resource{Name: fmt.Sprint("item ", i), Content: "x"})
	}
	if err := s.Resources().Put(ctx, many...); err != nil {
		t.Fatal(err)
	}
	rebuild := func(damage string) {
		t.Helper()
		if err := e.WriteSystem(ctx, func(c store.Conn) error { _, err := c.Exec(ctx, damage); return err }); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Maintenance().RebuildKeys(ctx); n != int64(len(many)) || err != nil {
			t.Errorf("%d keys were written of %d, %v", n, len(many), err)
		}
		for _, x := range many {
			if found, err := s.Lookup(ctx, x.Name); len(found) != 1 || err != nil {
				t.Fatalf("%s is found %d times, %v", x.Name, len(found), err)
			}
		}
		if lost, err := s.Nodes(ctx, []string{"lost"}); len(lost) > 0 || err != nil {
			t.Errorf("a key without a row stays: %v, %v", lost, err)
		}
	}
	rebuild(`DELETE FROM kv_store`)
	rebuild(`UPDATE kv_store SET entity_key = 'lost' WHERE entity_key = 'item-0'`)
}
