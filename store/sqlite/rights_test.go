package sqlite

import (
	"testing"

	"p8/store"
	"p8/store/storetest"
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
