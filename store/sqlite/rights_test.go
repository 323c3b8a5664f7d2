package sqlite

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func TestReserved(t *testing.T) {
	dir := t.TempDir()
	storetest.Reserved(t, func(names ...string) *store.Store {
		s, err := Open(t.Context(), Options{Dir: dir, Reserved: names})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
