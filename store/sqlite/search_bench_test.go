package sqlite

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/p8-org/p8/store"
)

// subjects makes vectors that lie in groups, as those of texts do.
type subjects struct {
	r          *rand.Rand
	dimensions int
	centres    [][]float32
}

func newSubjects(dimensions int) *subjects {
	s := &subjects{r: rand.New(rand.NewPCG(1, 2)), dimensions: dimensions}
	for range 1000 {
		s.centres = append(s.centres, s.noise(nil))
	}
	return s
}

// noise is a vector around a centre.
func (s *subjects) noise(centre []float32) []float32 {
	v := make([]float32, s.dimensions)
	for i := range v {
		v[i] = 0.7 * float32(s.r.NormFloat64())
		if centre != nil {
			v[i] += centre[i]
		}
	}
	return v
}

func (s *subjects) vector() []float32 { return s.noise(s.centres[s.r.IntN(len(s.centres))]) }

// embedded has n resources with vectors.
func embedded(b *testing.B, dir string, n int, source *subjects) *store.Store {
	b.Helper()
	s, err := Open(b.Context(), Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	for i := 0; i < n; i += 1000 {
		var rows []*store.Resource
		for j := i; j < i+1000; j++ {
			rows = append(rows, &store.Resource{Name: fmt.Sprint("text ", j), Content: fmt.Sprintf("word%d word%d word%d", j%5000, j%777, j%91)})
		}
		if err := s.Resources().Put(caller(b.Context()), rows...); err != nil {
			b.Fatal(err)
		}
		tasks, err := s.Maintenance().EmbeddingTasks(b.Context(), 1000)
		if err != nil {
			b.Fatal(err)
		}
		var done []store.Embedding
		for _, t := range tasks {
			done = append(done, store.Embedding{Task: t, Vector: source.vector()})
		}
		if _, err := s.Maintenance().PutEmbeddings(b.Context(), "m", source.dimensions, done...); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func BenchmarkSearch100k(b *testing.B) {
	for _, dimensions := range []int{384, 1536} {
		source := newSubjects(dimensions)
		dir := b.TempDir()
		s := embedded(b, dir, 100_000, source)
		ctx := caller(b.Context())
		search := func(b *testing.B, q store.SearchQuery) {
			if list, err := s.Search(ctx, q); err != nil || len(list) != 10 {
				b.Fatal(len(list), err)
			}
		}
		question := func() store.SearchQuery { return store.SearchQuery{Model: "m", Vector: source.vector()} }
		// The first search builds the index.
		b.Run(fmt.Sprint(dimensions, "/first"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fresh, err := Open(ctx, Options{Dir: dir, ReadOnly: true})
				if err != nil {
					b.Fatal(err)
				}
				if list, err := fresh.Search(ctx, question()); err != nil || len(list) != 10 {
					b.Fatal(len(list), err)
				}
				fresh.Close()
			}
		})
		search(b, question())
		b.Run(fmt.Sprint(dimensions, "/next"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				search(b, question())
			}
		})
		b.Run(fmt.Sprint(dimensions, "/words"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				search(b, store.SearchQuery{Hybrid: true, Text: "What does word77 say about word4711?"})
			}
		})
		b.Run(fmt.Sprint(dimensions, "/hybrid"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q := question()
				q.Hybrid, q.Text = true, "What does word77 say about word4711?"
				search(b, q)
			}
		})
	}
}
