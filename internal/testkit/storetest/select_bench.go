package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// BenchmarkSelect measures the SELECTs of callers on 10,000 resources.
func BenchmarkSelect(b *testing.B, s *store.Store, ctx context.Context) {
	var rows []*store.Resource
	for i := range 10_000 {
		rows = append(rows, &store.Resource{Name: fmt.Sprintf("resource %d", i), Content: "Some text about tea.", Ordinal: i,
			Category: []string{"a", "b", "c"}[i%3]})
	}
	for chunk := range slices.Chunk(rows, 1000) {
		if err := s.Resources().Put(ctx, chunk...); err != nil {
			b.Fatal(err)
		}
	}
	for _, q := range []struct{ name, sql string }{
		{"constant", `SELECT 1`},
		{"row", `SELECT id, name, category FROM resources WHERE name = 'resource 77'`},
		{"ten", `SELECT name, LEFT(content, 100) FROM resources WHERE category = 'a' ORDER BY created_at LIMIT 10`},
		{"group", `SELECT category, count(*), avg(ordinal)::int FROM resources GROUP BY category ORDER BY 2 DESC`},
		{"like", `SELECT name FROM resources WHERE content ILIKE '%coffee%'`},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := s.Select(ctx, q.sql, store.SelectBounds{}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
		})
	}
}
