package reminder

import (
	"errors"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// A caller who may only read leaves no job behind, which could be years away.
func TestReadersKeepNoJob(t *testing.T) {
	w := newWorld(t)
	reader := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "rolf", Role: identity.RoleReader})
	_, err := w.Remind(reader, Request{Name: "Roses", Description: "Water them.", When: "30 9 * * 1-5"})
	if !errors.Is(err, store.ErrForbidden) || len(w.queue.all) != 0 {
		t.Errorf("%v, %d jobs", err, len(w.queue.all))
	}
}
