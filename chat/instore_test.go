package chat_test

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/store"
)

// newStore returns a store of the test's own.
func newStore(t testing.TB) *store.Store { return database.Open(t) }
