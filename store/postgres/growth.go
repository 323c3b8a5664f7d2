package postgres

import (
	"context"
	"sync"
)

// PostgreSQL keeps the plan of a prepared statement until somebody counts the table's rows
// anew. In a new database the plans are for empty tables, in which every index is as good as
// another, and a first large upload runs with them until the autovacuum comes: each row that
// it writes costs more than the one before. So the engine counts as the tables grow.

// The tables are counted when this process has written firstCount rows of knowledge, and
// each time that it has written countAgain times as many, up to lastCount; the autovacuum
// has come by then.
const (
	firstCount = 200
	countAgain = 8
	lastCount  = 200_000
)

// grownTables have rows for each chunk of a document.
const grownTables = `resources, kv_store, kv_edges, keywords, embedding_queue`

// growth is how many rows this process has written, and when it counts next.
type growth struct {
	mu            sync.Mutex
	written, next int
}

// add reports whether the tables should be counted.
func (g *growth) add(rows int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next = max(g.next, firstCount)
	if g.written += rows; g.written < g.next || g.next > lastCount {
		return false
	}
	g.next = g.written * countAgain
	return true
}

// Grew implements store.Grower.
func (e *engine) Grew(ctx context.Context, rows int) {
	if e.writers.Pool == nil || !e.growth.add(rows) {
		return
	}
	if err := e.count(ctx); err != nil {
		e.log.DebugContext(ctx, "the rows of the tables could not be counted", "error", err)
	}
}

// count counts the rows of tables that have grown much since they were counted.
func (e *engine) count(ctx context.Context) error {
	p, release, err := e.writers.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.growth.mu.Lock()
	written := e.growth.written
	e.growth.mu.Unlock()
	var known float64
	if err := p.Conn().QueryRow(ctx, `SELECT reltuples FROM pg_class WHERE oid = 'resources'::regclass`).Scan(&known); err != nil || known > float64(written) {
		return err
	}
	_, err = p.Conn().Exec(ctx, `ANALYZE `+grownTables)
	return err
}
