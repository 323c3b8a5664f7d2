package sqlite

import (
	"testing"

	"github.com/ncruces/go-sqlite3/vfs/mvcc"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// TestMemory: a database in memory passes the suite of the one on the disk, also when
// every transaction runs again.
func TestMemory(t *testing.T) {
	snapshot := func(t *testing.T, fill func(*store.Store)) mvcc.Snapshot {
		e := memoryEngine(t, mvcc.Snapshot{})
		fill(store.New(e))
		return mvcc.TakeSnapshot(memoryName(e.path))
	}
	empty := snapshot(t, func(*store.Store) {})
	var tables []string
	if err := memoryEngine(t, empty).ReadSystem(t.Context(), func(c store.Conn) error {
		return c.Query(t.Context(), `SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'tenant_id'
			WHERE m.type = 'table' AND m.sql NOT LIKE '%USING fts5%'`, func(r store.Row) error {
			tables = append(tables, "")
			return r.Scan(&tables[len(tables)-1])
		})
	}); err != nil || len(tables) < 20 {
		t.Fatal(tables, err)
	}
	scoper := storetest.NewScoper(tables)
	storetest.Run(t, func(t *testing.T) *store.Store {
		e := memoryEngine(t, empty)
		e.wrap = scoper.Wrap(t)
		return store.New(again{e})
	},
		func(t *testing.T, fill func(*store.Store)) func() *store.Store {
			full := snapshot(t, fill)
			return func() *store.Store { return store.New(again{memoryEngine(t, full)}) }
		})
}

func memoryEngine(t *testing.T, from mvcc.Snapshot) *engine {
	t.Helper()
	e, err := open(t.Context(), Options{Memory: true, from: from})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// TestMemoryIsForgotten: two databases in memory know nothing of each other, and a
// closed one leaves nothing.
func TestMemoryIsForgotten(t *testing.T) {
	ctx := caller(t.Context())
	for range 2 {
		s, err := Open(ctx, Options{Memory: true})
		if err != nil {
			t.Fatal(err)
		}
		err = s.BeginRun(ctx, store.RunStart{
			Session: store.Session{ID: "s"}, Messages: []*store.Message{message("s", "Hi")},
			Run: store.Run{ID: "0199a1b2-0000-7000-8000-000000000001", SessionID: "s", Status: store.RunRunning, Process: "o"},
		})
		if err != nil {
			t.Error(err)
		}
		if sess, err := s.Session(ctx, "s"); err != nil || sess.Messages != 1 {
			t.Errorf("%+v, %v", sess, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
