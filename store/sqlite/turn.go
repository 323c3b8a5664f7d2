package sqlite

import "context"

// Turn holds off this process's writer while a library writes over its own connection.
// Without it, the library would poll for SQLite's lock and mostly lose.
func (e *engine) Turn(ctx context.Context) (release func(), err error) {
	c, err := e.take(ctx, e.writing, e.writer)
	if err != nil {
		return nil, err
	}
	return func() { give(e.writing, e.writer, c) }, nil
}
