package postgres

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// benchRows is the size of the benchmarks' tables: P8_BENCH_ROWS, else small
// enough for every day.
func benchRows(b *testing.B) int {
	b.Helper()
	text := os.Getenv("P8_BENCH_ROWS")
	if text == "" {
		return 2000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 {
		b.Fatalf("P8_BENCH_ROWS is %q, not a number from 100 on", text)
	}
	return n
}

// raw runs a query on pgx alone, as a measure for the engine.
func raw(b *testing.B, e *engine, want int, settings []string, sql string, args ...any) {
	b.Helper()
	c, err := e.readers.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Release()
	for _, s := range settings {
		if _, err := c.Exec(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		rows, err := c.Query(b.Context(), sql, args...)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				b.Fatal(err)
			}
			n++
		}
		if rows.Err() != nil || n < want {
			b.Fatal(n, rows.Err())
		}
	}
}

// BenchmarkNearest compares a search, over everything and over a tenant of one
// percent, with pgvector's index alone; it reports the recall among ten.
func BenchmarkNearest(b *testing.B) {
	for _, dimensions := range []int{384, 1536} {
		e := openEngine(b)
		n := benchRows(b)
		r := rand.New(rand.NewPCG(7, 8))
		var centres [][]float32
		for range 50 {
			centres = append(centres, unit(r, dimensions))
		}
		near := func() []float32 {
			v := unit(r, dimensions)
			for d, x := range centres[r.IntN(50)] {
				v[d] = x + 0.7*v[d]
			}
			return v
		}
		var places []place
		for i := range n {
			p := place{tenant: "big", table: "resources", id: fmt.Sprint(i), vector: near()}
			if i%100 == 0 {
				p.tenant = "small"
			}
			places = append(places, p)
		}
		populate(b, e, places)
		if err := e.PrepareModel(b.Context(), model, dimensions); err != nil {
			b.Fatal(err)
		}
		analyze(b, e)
		q := store.SearchQuery{Table: "resources", Model: model, Vector: near(), Limit: 10}
		b.Run(fmt.Sprintf("%d/raw", dimensions), func(b *testing.B) {
			raw(b, e, 10, []string{`SET hnsw.ef_search = 100`}, fmt.Sprintf(`SELECT entity_id, 1 - (embedding::vector(%d) <=> $1::vector(%[1]d)) FROM embeddings
				WHERE table_name = 'resources' AND model = '%s' AND dimensions = %[1]d
				ORDER BY embedding::vector(%[1]d) <=> $1::vector(%[1]d) LIMIT 10`, dimensions, model), q.Vector)
		})
		for _, tenant := range []string{"big", "small"} {
			sc := store.Scope{Tenant: tenant, User: "ute"}
			b.Run(fmt.Sprintf("%d/%s", dimensions, tenant), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got, err := e.Nearest(b.Context(), sc, q, nil); err != nil || len(got) != 10 {
						b.Fatal(got, err)
					}
				}
				found := 0
				for range 20 {
					q := q
					q.Vector = near()
					got, err := e.Nearest(b.Context(), sc, q, nil)
					if err != nil {
						b.Fatal(err)
					}
					for _, want := range nearest(places, sc, q, nil) {
						if slices.ContainsFunc(got, func(x store.Ranked) bool { return x.ID == want.ID }) {
							found++
						}
					}
				}
				b.ReportMetric(float64(found)/200, "recall@10")
			})
		}
	}
}

// BenchmarkLookup compares a LOOKUP with an indexed read of the same row.
func BenchmarkLookup(b *testing.B) {
	e := openEngine(b)
	s, n := store.New(e), benchRows(b)
	fill(b, e, n)
	ctx := as(b.Context(), "t", "u")
	list, err := s.Lookup(ctx, corpus.Key(50))
	if err != nil || len(list) != 1 {
		b.Fatal(list, err)
	}
	b.Run("raw", func(b *testing.B) {
		raw(b, e, 1, nil, `SELECT id, name, uri, ordinal, content, category, user_id, graph_edges, tags, metadata, created_at, updated_at
			FROM resources WHERE tenant_id = $1 AND id = $2`, "t", list[0].ID)
	})
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if list, err := s.Lookup(ctx, corpus.Key(50)); err != nil || len(list) != 1 {
				b.Fatal(list, err)
			}
		}
	})
}

// BenchmarkFuzzy compares FUZZY with the GIN index of key and summary alone.
func BenchmarkFuzzy(b *testing.B) {
	e := openEngine(b)
	s, n := store.New(e), benchRows(b)
	fill(b, e, n)
	ctx := as(b.Context(), "t", "u")
	for _, text := range []string{corpus.Name(77), "sarah chen", "cluster report", corpus.Text(5)[:30], "what does the quarterly report say"} {
		b.Run("raw/"+text, func(b *testing.B) {
			raw(b, e, 0, []string{`SET pg_trgm.similarity_threshold = 0.3`}, `SELECT entity_key, content_summary FROM kv_store
				WHERE (entity_key % $1 OR content_summary % $1) AND (tenant_id = $2 AND owner IN ('', $3) OR tenant_id = '_' AND owner = '')
				ORDER BY greatest(similarity(entity_key, $1), similarity(content_summary, $1)) DESC LIMIT 10`, text, "t", "u")
		})
		b.Run("store/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Fuzzy(ctx, text, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Beside many runs and sessions: to the planner a table that was empty is small.
func BenchmarkStoredTurn(b *testing.B) {
	e := openEngine(b)
	execute(b, e.writers.Config().ConnString(), `INSERT INTO sessions (tenant_id, id, user_id, created_at, updated_at)
		SELECT 't', 'old ' || n, 'u' || n % 100, now(), now() FROM generate_series(1, 20000) AS n`,
		`INSERT INTO users (tenant_id, id, user_id, name, created_at, updated_at)
		SELECT 't', 'u' || n, 'u' || n, 'u' || n, now(), now() FROM generate_series(1, 5000) AS n`)
	fillRuns(b, e)
	storetest.BenchmarkTurn(b, store.New(e), caller(b.Context()))
}
