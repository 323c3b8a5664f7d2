package store

import (
	"context"
	"time"
)

// Lease takes something for the caller alone, for as long as ttl: false while another
// owner has it. The owner who has it gets it anew; Release gives it back. It lets one
// of several processes do what must not be done twice at a time.
func (s *Store) Lease(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	if err := checkLease(name, owner); err != nil {
		return false, missingFirst(ctx, err)
	}
	if ttl <= 0 {
		return false, missingFirst(ctx, invalidf("a lease lasts longer than nothing"))
	}
	var taken int64
	err := s.write(ctx, "take a lease", func(c Conn, by caller) (err error) {
		now := s.clock()
		taken, err = c.Exec(ctx, `INSERT INTO leases (tenant_id, user_id, name, owner, expires_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant_id, user_id, name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
			WHERE leases.owner = excluded.owner OR leases.expires_at <= $6`, by.TenantID, by.UserID, name, owner, now.Add(ttl), now)
		return err
	})
	return taken == 1 && err == nil, err
}

// Release gives a lease back; of another owner it leaves it.
func (s *Store) Release(ctx context.Context, name, owner string) error {
	if err := checkLease(name, owner); err != nil {
		return missingFirst(ctx, err)
	}
	return s.write(ctx, "give a lease back", func(c Conn, by caller) error {
		_, err := c.Exec(ctx, `DELETE FROM leases WHERE tenant_id = $1 AND user_id = $2 AND name = $3 AND owner = $4`,
			by.TenantID, by.UserID, name, owner)
		return err
	})
}

// FreeLeases gives every lease back: for a process that has the database for itself,
// when it begins. Whoever held one is gone.
func (m Maintenance) FreeLeases(ctx context.Context) error {
	return m.write(ctx, "give the leases back", func(c Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM leases`)
		return err
	})
}

func checkLease(name, owner string) error {
	if !printable(name, maxName) || !printable(owner, maxName) {
		return invalidf("the name and the owner of a lease must be 1-%d printable characters", maxName)
	}
	return nil
}
