package store

import "context"

// Stats are how busy the store of this process is.
type Stats struct {
	Pools   []Pool
	Indexes []IndexUse
}

// Pool is a pool of connections, or of places for the queries that callers write.
type Pool struct {
	// Name is read, write or query.
	Name string
	// Most is the size of the pool. InUse are taken, Waiting are callers that wait for one.
	Most, InUse, Waiting int
}

// IndexUse is how often a search found an index in memory, and how often the index was built or
// updated first.
type IndexUse struct {
	// Name is fuzzy or vector.
	Name         string
	Hits, Misses uint64
	// Bytes is what all indexes of the name take.
	Bytes int
}

// Pooled is implemented by an engine that has pools of connections.
type Pooled interface {
	Pools() []Pool
}

// Stats returns how busy the store is. It reads no database.
func (s *Store) Stats() Stats {
	var l Stats
	if e, ok := s.engine.(Pooled); ok {
		l.Pools = e.Pools()
	}
	most, running, waiting := s.queries.Load()
	l.Pools = append(l.Pools, Pool{"query", most, running, waiting})
	if s.vectors != nil {
		l.Indexes = append(l.Indexes, indexUse("fuzzy", s.fuzzy), indexUse("vector", s.vectors))
	}
	return l
}

func indexUse(name string, x interface {
	Use() (hits, misses uint64, bytes int)
}) IndexUse {
	hits, misses, bytes := x.Use()
	return IndexUse{name, hits, misses, bytes}
}

// Backlog is what waits in the database, of all tenants. A number of more than 100,000 is
// 100,000: nothing counts a long queue to its end.
type Backlog struct {
	// Embeddings are texts that wait for a vector, Failed those of them that could not be
	// embedded yet.
	Embeddings, Failed int64
	// Requests are open questions of runs to their users.
	Requests int64
}

const maxBacklog = 100_000

// Backlog counts what waits.
func (m Maintenance) Backlog(ctx context.Context) (b Backlog, err error) {
	err = m.read(ctx, "count what waits", func(c Conn) error {
		if _, err := one(ctx, c, `SELECT count(*), count(error) FROM (SELECT error FROM embedding_queue LIMIT $1) AS q`,
			[]any{&b.Embeddings, &b.Failed}, maxBacklog); err != nil {
			return err
		}
		_, err := one(ctx, c, `SELECT count(*) FROM (SELECT 1 FROM run_requests WHERE status = 'open' LIMIT $1) AS q`, []any{&b.Requests}, maxBacklog)
		return err
	})
	return b, err
}
