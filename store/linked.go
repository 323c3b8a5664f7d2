package store

import (
	"context"
	"errors"
	"time"
)

// Linked says what became of an edge's way back.
type Linked struct {
	Target string `json:"target"`
	// Status is linked, not_found, or shared for a row that is not the caller's own:
	// others would see the edge, so it has none.
	Status string `json:"status"`
}

// PutLinked stores moments as Put with Merge does, and gives every row that one of
// their edges points to an edge back to the moment, of the relation back and with the
// edge's weight, in one transaction. The edges that a row has stay: of two with the
// same target and relation, the one of greater weight. It answers once for each edge.
func (s *Store) PutLinked(ctx context.Context, back string, ms ...*Moment) ([]Linked, error) {
	return nil, errors.ErrUnsupported
}

// MergeEdges is old with the edges of add: of two with the same target and relation,
// the one of greater weight.
func MergeEdges(old, add []Edge) []Edge { return append(old, add...) }

// Lease takes something for the caller alone, for as long as ttl: false while another
// owner has it. The owner who has it gets it anew; Release gives it back. It lets one
// of several processes do what must not be done twice at a time.
func (s *Store) Lease(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	return false, errors.ErrUnsupported
}

// Release gives a lease back; of another owner it leaves it.
func (s *Store) Release(ctx context.Context, name, owner string) error { return errors.ErrUnsupported }

// ActiveUsers lists whose sessions, moments or files changed since then, of all
// tenants, in order; after is the last of the page before.
func (m Maintenance) ActiveUsers(ctx context.Context, since time.Time, after RowOwner, limit int) ([]RowOwner, error) {
	return nil, errors.ErrUnsupported
}
