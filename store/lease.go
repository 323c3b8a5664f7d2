package store

import (
	"context"
	"time"
)

// Leases let one of several processes do work that no two may do at once. The names are
// each caller's own.
type Leases struct{ store *Store }

// Leases returns the caller's leases.
func (s *Store) Leases() Leases { return Leases{s} }

// Take gives the lease to the holder for ttl, or renews it. It returns false while another
// holder has the lease. A lease that is not renewed expires.
func (l Leases) Take(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	if err := checkLease(name, holder); err != nil {
		return false, missingFirst(ctx, err)
	}
	if ttl <= 0 {
		return false, missingFirst(ctx, invalidf("the lease %q needs a ttl above 0, not %s", name, ttl))
	}
	var taken int64
	err := l.store.write(ctx, "take a lease", func(c Conn, by caller) (err error) {
		now := l.store.clock()
		taken, err = c.Exec(ctx, `INSERT INTO leases (tenant_id, user_id, name, owner, expires_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant_id, user_id, name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
			WHERE leases.owner = excluded.owner OR leases.expires_at <= $6`, by.TenantID, by.UserID, name, holder, now.Add(ttl), now)
		return err
	})
	return taken == 1 && err == nil, err
}

// Release ends the holder's lease; it does nothing if another holder has it.
func (l Leases) Release(ctx context.Context, name, holder string) error {
	if err := checkLease(name, holder); err != nil {
		return missingFirst(ctx, err)
	}
	return l.store.write(ctx, "release a lease", func(c Conn, by caller) error {
		_, err := c.Exec(ctx, `DELETE FROM leases WHERE tenant_id = $1 AND user_id = $2 AND name = $3 AND owner = $4`,
			by.TenantID, by.UserID, name, holder)
		return err
	})
}

// FreeLeases ends every lease. A process that has the database for itself calls it when
// it starts: the processes that held the leases are gone.
func (m Maintenance) FreeLeases(ctx context.Context) error {
	return m.write(ctx, "release the leases", func(c Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM leases`)
		return err
	})
}

func checkLease(name, holder string) error {
	if !printable(name, maxName) || !printable(holder, maxName) {
		return invalidf("the name and the holder of a lease must be 1-%d printable characters", maxName)
	}
	return nil
}
