package sqlite

import (
	"os"
	"strconv"
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
)

// P8_BENCH_ROWS is the number of messages, 2000 by default.
func BenchmarkSearchSessions(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("P8_BENCH_ROWS"))
	if err != nil {
		n = 2000
	}
	storetest.BenchmarkSearchSessions(b, openStore(b), n)
}
