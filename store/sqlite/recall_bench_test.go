package sqlite

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
)

func BenchmarkRecall(b *testing.B) { storetest.BenchmarkRecall(b, openStore(b), caller(b.Context())) }
