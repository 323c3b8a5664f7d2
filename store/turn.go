package store

import "context"

// Turn waits until this process does not write to the database and keeps it
// from writing until release is called, for others that write to the same file.
// On an engine whose writers do not wait for each other it does nothing.
func (m Maintenance) Turn(ctx context.Context) (release func(), err error) {
	e, ok := m.store.engine.(interface {
		Turn(ctx context.Context) (release func(), err error)
	})
	if !ok {
		return func() {}, nil
	}
	return e.Turn(ctx)
}
