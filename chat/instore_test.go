package chat_test

import (
	"testing"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// inMemory is a store that the test begins with and leaves behind.
func inMemory(t testing.TB) *store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
