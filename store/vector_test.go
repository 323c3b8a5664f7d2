package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func caller(ctx context.Context, tenant string) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: tenant, UserID: "u"})
}

const dimensions = 16

func randomVector(r *rand.Rand) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// fill writes resources of a tenant and gives what waits a vector.
func fill(t *testing.T, s *store.Store, r *rand.Rand, tenant string, from, to int, content string) {
	t.Helper()
	var rows []*store.Resource
	for i := from; i < to; i++ {
		rows = append(rows, &store.Resource{Name: fmt.Sprint("row ", i), Content: fmt.Sprint(content, i), Category: fmt.Sprint(i % 3)})
	}
	if err := s.Resources().Put(caller(t.Context(), tenant), rows...); err != nil {
		t.Fatal(err)
	}
	tasks, err := s.Maintenance().EmbeddingTasks(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var done []store.Embedding
	for _, task := range tasks {
		done = append(done, store.Embedding{Task: task, Vector: randomVector(r)})
	}
	if _, err := s.Maintenance().PutEmbeddings(t.Context(), "m", dimensions, done...); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, s *store.Store, tenant string, q store.SearchQuery) []string {
	t.Helper()
	found, err := s.Search(caller(t.Context(), tenant), q)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range found {
		list = append(list, fmt.Sprintf("%s %.6f", m.ID, m.Score))
	}
	return list
}

// TestTooLargeForTheMemory: a set beyond the budget is searched alike, from the
// rows.
func TestTooLargeForTheMemory(t *testing.T) {
	s, r := openStore(t), rand.New(rand.NewPCG(1, 1))
	fill(t, s, r, "t", 0, 300, "a")
	questions := []store.SearchQuery{
		{Model: "m", Vector: randomVector(r)},
		{Model: "m", Vector: randomVector(r), Limit: 3},
		{Model: "m", Vector: randomVector(r), MinSimilarity: 0.2, Limit: 100},
		{Model: "m", Vector: randomVector(r), Category: "2"},
		{Model: "m", Vector: randomVector(r), Where: "category <> '2'"},
	}
	var want [][]string
	for _, q := range questions {
		want = append(want, ids(t, s, "t", q))
	}
	store.SetVectorBudget(s, 1000)
	for i, q := range questions {
		if got := ids(t, s, "t", q); !slices.Equal(got, want[i]) {
			t.Errorf("question %d: %v, want %v", i, got, want[i])
		}
	}
	if tooLarge, err := store.VectorsTooLarge(t.Context(), s, "t", "m", dimensions); err != nil || !tooLarge {
		t.Errorf("the set is not too large for the memory: %v", err)
	}
}

// TestBudget: a set that was evicted from the memory is found again.
func TestBudget(t *testing.T) {
	s, r := openStore(t), rand.New(rand.NewPCG(1, 1))
	store.SetVectorBudget(s, 30_000)
	q := store.SearchQuery{Model: "m", Vector: randomVector(r)}
	for i := range 20 {
		tenant := fmt.Sprint("t", i)
		fill(t, s, r, tenant, 0, 20, "a")
		if n := len(ids(t, s, tenant, q)); n != 10 {
			t.Fatalf("%s finds %d rows, want 10", tenant, n)
		}
	}
	if n := len(ids(t, s, "t0", q)); n != 10 {
		t.Errorf("a dropped index finds %d rows, want 10", n)
	}
}

// TestSearchBesideWrites: searches and writes side by side; the last search sees
// the last write.
func TestSearchBesideWrites(t *testing.T) {
	s, r := openStore(t), rand.New(rand.NewPCG(1, 1))
	fill(t, s, r, "t", 0, 100, "a")
	q := store.SearchQuery{Model: "m", Vector: randomVector(r)}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := s.Search(caller(t.Context(), "t"), q); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 30 {
		fill(t, s, r, "t", i, 40+i, fmt.Sprint("b", i))
	}
	close(done)
	wg.Wait()
	if err := s.Resources().Delete(caller(t.Context(), "t"), "row 99"); err != nil {
		t.Fatal(err)
	}
	q.Limit = 200
	if n := len(ids(t, s, "t", q)); n != 99 {
		t.Errorf("%d rows, want 99", n)
	}
}
