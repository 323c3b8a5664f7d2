package store

// Maintenance is the operator's view of the store: across tenants, without a
// caller. Nothing that serves a request may hold one; the background jobs and
// the maintenance verbs of the command line do.
type Maintenance struct{ store *Store }

// Maintenance is the operator's view.
func (s *Store) Maintenance() Maintenance { return Maintenance{s} }
