package postgres

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// P8_BENCH_ROWS is the number of messages.
func BenchmarkSearchSessions(b *testing.B) {
	storetest.BenchmarkSearchSessions(b, store.New(openEngine(b)), benchRows(b))
}
