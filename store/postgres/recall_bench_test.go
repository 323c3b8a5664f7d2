package postgres

import (
	"testing"

	"p8/store"
	"p8/store/storetest"
)

func BenchmarkRecall(b *testing.B) {
	storetest.BenchmarkRecall(b, store.New(openEngine(b)), as(b.Context(), "t", "u"))
}
