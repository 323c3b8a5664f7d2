package postgres

import (
	"testing"

	"p8/store"
	"p8/store/storetest"
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
