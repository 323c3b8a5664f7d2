package bench

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store/sqlite"
)

// BenchmarkKnowledgeIndex is what the indexes of FUZZY and SEARCH cost. Embedded,
// the first query builds them in memory: its time, and what stays in the heap. On
// PostgreSQL they are in the database: their size, and the time of building.
func BenchmarkKnowledgeIndex(b *testing.B) {
	b.Run(onSQLite, func(b *testing.B) {
		k := open(b, onSQLite, benchEntities(b))
		b.Run("fuzzy", func(b *testing.B) { k.firstQuery(b, rem.Options{}, "FUZZY sarah") })
		for _, dimensions := range []int{384, 1536} {
			b.Run(strconv.Itoa(dimensions), func(b *testing.B) {
				texts, vectors := k.searches(b, dimensions, 1)
				k.firstQuery(b, rem.Options{Embedder: made{model(dimensions), vectors}}, "SEARCH "+quoted(texts[0]))
			})
		}
	})
	b.Run(onPostgres, func(b *testing.B) {
		k := open(b, onPostgres, benchEntities(b))
		b.Run("fuzzy", func(b *testing.B) { k.indexSize(b, `relname = 'kv_store_trigrams'`) })
		for _, dimensions := range []int{384, 1536} {
			b.Run(strconv.Itoa(dimensions), func(b *testing.B) {
				k.embed(b, dimensions)
				k.indexSize(b, fmt.Sprintf(`relname LIKE 'embeddings_resources_%%' AND pg_get_indexdef(oid) LIKE '%%''%s''%%'`, model(dimensions)))
				b.ReportMetric(k.indexing[dimensions].Seconds(), "build-s")
			})
		}
	})
}

// firstQuery asks a store that was opened a moment ago.
func (k *knowledge) firstQuery(b *testing.B, o rem.Options, query string) {
	var grown uint64
	for b.Loop() {
		b.StopTimer()
		s, err := sqlite.Open(b.Context(), sqlite.Options{Path: k.location, ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		o.Knowledge, o.Timeout = s, time.Minute
		e, before := rem.New(o), heap()
		b.StartTimer()
		run(b, e, as(bigTenant), query, 1)
		b.StopTimer()
		grown = heap() - before
		runtime.KeepAlive(e)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(grown)/1e6, "heap-MB")
	b.ReportMetric(float64(grown)/float64(k.entities), "heap-B/row")
}

// heap is the memory in use, garbage left out.
func heap() uint64 {
	// What a pool keeps goes with the second collection.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// indexSize reports the size of the indexes of PostgreSQL that a condition names.
func (k *knowledge) indexSize(b *testing.B, condition string) {
	var size int64
	err := k.raw.(rawPostgres).c.QueryRow(b.Context(), `SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class
		WHERE relkind = 'i' AND `+condition).Scan(&size)
	if err != nil || size == 0 {
		b.Fatal(size, err)
	}
	for b.Loop() {
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)/1e6, "disk-MB")
	b.ReportMetric(float64(size)/float64(k.last()), "disk-B/row")
}

// BenchmarkKnowledgeLoad says what filling the set took: rows by the
// repository, 500 a transaction, and their vectors by the maintenance.
func BenchmarkKnowledgeLoad(b *testing.B) {
	onBoth(b, func(b *testing.B, k *knowledge) {
		rows := float64(k.last())
		report := func(name string, seconds func() float64) {
			b.Run(name, func(b *testing.B) {
				s := seconds()
				for b.Loop() {
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(s, "s")
				b.ReportMetric(rows/s, "rows/s")
			})
		}
		report("rows", k.loading.Seconds)
		for _, dimensions := range []int{384, 1536} {
			report(strconv.Itoa(dimensions), func() float64 {
				k.embed(b, dimensions)
				return k.embedding[dimensions].Seconds()
			})
		}
	})
}

// BenchmarkKnowledgeIngest takes a folder of Markdown into the store that has all
// the other rows, for a new tenant each time, without embedding. It comes last:
// what it writes stays.
func BenchmarkKnowledgeIngest(b *testing.B) {
	dir := pages(b, 400)
	tenants := 0
	onBoth(b, func(b *testing.B, k *knowledge) {
		in, err := ingest.New(ingest.Options{Store: ingest.Over(k.Store), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		chunks := 0
		b.ReportAllocs()
		for b.Loop() {
			tenants++
			ctx := identity.With(context.Background(), identity.Identity{TenantID: fmt.Sprint("ingest-", tenants)})
			report, err := in.Paths(ctx, ingest.PathsOptions{Paths: []string{dir}})
			if err != nil || report.Failed > 0 {
				b.Fatal(report.Failed, err)
			}
			chunks += report.Chunks
		}
		b.ReportMetric(float64(chunks)/b.Elapsed().Seconds(), "chunks/s")
		b.ReportMetric(float64(chunks)/float64(b.N), "chunks")
	})
}

// pages is a folder of Markdown: prose under headings, with links, some ten
// chunks a page.
func pages(b *testing.B, n int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "---\ncategory: page\n---\n# Page %d\n\n", i)
		for part := range 8 {
			fmt.Fprintf(&text, "## Part %d\n\n", part)
			for s := range 22 {
				fmt.Fprintf(&text, "The keeper of lighthouse %d wrote in log %d that ship %d came in before the storm. ", i*7+part, i*part+s, s*i)
			}
			fmt.Fprintf(&text, "See [the next page](page-%d.md).\n\n", (i+part+1)%n)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("page-%d.md", i)), []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}
