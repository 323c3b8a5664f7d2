package sqlite

import "context"

// Turn excludes this process's writer for a library with a connection of its own, which
// would otherwise poll for SQLite's lock and mostly lose.
func (e *engine) Turn(ctx context.Context) (release func(), err error) {
	c, err := e.take(ctx, e.writing, e.writer)
	if err != nil {
		return nil, err
	}
	return func() { give(e.writing, e.writer, c) }, nil
}
