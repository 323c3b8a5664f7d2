package store

import "context"

// SetVectorBudget drops the vector indexes of a store and bounds new ones, in bytes.
func SetVectorBudget(s *Store, bytes int) { s.vectors = newVectorIndexes(bytes) }

// VectorsTooLarge reports whether the vectors of a tenant's resources have no index
// because they are too large.
func VectorsTooLarge(ctx context.Context, s *Store, tenant, model string, dimensions int) (tooLarge bool, err error) {
	err = s.engine.Read(ctx, Scope{Tenant: tenant}, func(c Conn) error {
		ix, release, err := s.vectors.open(ctx, c, vectorKey{tenant, "resources", model, dimensions})
		if err == nil {
			tooLarge = ix.tooLarge
			release()
		}
		return err
	})
	return tooLarge, err
}
