package sqlite

import (
	"testing"

	"p8/store/storetest"
)

func BenchmarkRecall(b *testing.B) { storetest.BenchmarkRecall(b, openStore(b), caller(b.Context())) }
