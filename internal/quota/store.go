package quota

import (
	"context"

	"github.com/p8-org/p8/store"
)

// Over returns the quotas of a store.
func Over(s *store.Store) Store { return stored{s.Quotas(), s} }

type stored struct {
	store.Quotas
	all *store.Store
}

func (s stored) Any(ctx context.Context) (bool, error) { return s.all.Maintenance().AnyQuota(ctx) }

func (s stored) Meter() { s.all.Meter() }
