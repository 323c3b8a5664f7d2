package postgres

import (
	"errors"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Nothing is stored under a name that PostgreSQL cannot hold: asking for it is no
// failure of the storage.
func TestReadUnstorable(t *testing.T) {
	s := openStore(t)
	ctx := identity.With(t.Context(), identity.Identity{UserID: "ann", TenantID: "acme"})
	for _, name := range []string{"a\x00b", "a\xffb"} {
		if _, err := s.Schema(ctx, name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
