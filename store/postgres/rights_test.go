package postgres

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func TestReserved(t *testing.T) {
	o := quiet(emptyDatabase(t))
	storetest.Reserved(t, func(names ...string) *store.Store {
		o.Reserved = names
		s, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
