package sqlite

import "context"

// Turn gives the one right to write to somebody with a connection of their own,
// who would otherwise poll for it against this process and mostly lose.
func (e *engine) Turn(ctx context.Context) (release func(), err error) {
	c, err := take(ctx, e.writing, e.writer)
	if err != nil {
		return nil, err
	}
	return func() { give(e.writing, e.writer, c) }, nil
}
