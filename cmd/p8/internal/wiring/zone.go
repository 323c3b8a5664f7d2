package wiring

import (
	"context"
	"log/slog"
	"time"

	"github.com/p8-org/p8/store"
)

// Zone returns a function that reads the time zone of the caller's profile, nil if it names
// none; a nil store has no profiles.
func Zone(s *store.Store, log *slog.Logger) func(context.Context) (*time.Location, error) {
	if s == nil {
		return nil
	}
	return func(ctx context.Context) (*time.Location, error) { return s.Users().Zone(ctx, log) }
}
