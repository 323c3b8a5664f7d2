package storetest

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"p8/store"
)

func newID() string { return uuid.NewString() }

// write writes a run as the process p, whom nobody has asked to stop.
func write(t *testing.T, s *store.Store, ctx context.Context, w store.RunWrite) {
	t.Helper()
	w.Owner = "p"
	if stop := get[bool](t)(s.WriteRun(ctx, w)); stop {
		t.Error("somebody asked the run to stop")
	}
}
