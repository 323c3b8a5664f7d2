package sqlite

import (
	"testing"

	"go.uber.org/goleak"

	"p8/store"
	"p8/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *store.Store { return openStore(t) })
}
