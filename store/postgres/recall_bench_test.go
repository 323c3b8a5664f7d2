package postgres

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func BenchmarkRecall(b *testing.B) {
	storetest.BenchmarkRecall(b, store.New(openEngine(b)), as(b.Context(), "t", "u"))
}
