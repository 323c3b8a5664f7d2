package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/fair"
)

// Queries implements store.Sharer: two reading connections in five, one at least,
// are left to short statements, so that no query of a caller stops a turn.
func (e *engine) Queries() (running, underWay int) {
	n := max(1, int(e.readers.Config().MaxConns)*3/5)
	return n, n
}

// pool is a pool of connections which tenants take in turn.
type pool struct {
	*pgxpool.Pool
	turns *fair.Turns
}

func shared(p *pgxpool.Pool) pool { return pool{p, fair.NewTurns(int(p.Config().MaxConns))} }

// take takes a connection when it is the caller's turn.
func (p pool) take(ctx context.Context) (c *pgxpool.Conn, release func(), err error) {
	id, _ := identity.From(ctx) // without an identity: p8 itself
	if err := p.turns.Take(ctx, fair.Key{Tenant: id.TenantID, User: id.UserID}); err != nil {
		return nil, nil, err
	}
	if c, err = p.Acquire(ctx); err != nil {
		p.turns.Give()
		return nil, nil, err
	}
	return c, func() {
		c.Release()
		p.turns.Give()
	}, nil
}

// Pools implements store.Pooled.
func (e *engine) Pools() []store.Pool {
	all := []store.Pool{{Name: "read"}, {Name: "write"}}
	for i, p := range [...]pool{e.readers, e.writers} {
		if p.Pool != nil {
			all[i].Most, all[i].InUse, all[i].Waiting = p.turns.Load()
		}
	}
	return all
}
