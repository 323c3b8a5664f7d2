package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// The engines, as the benchmarks and the tests name them.
const (
	onSQLite   = "embedded"
	onPostgres = "postgres"
)

// The tenants. What is asked is asked in the big one, unless a tenant's filter is
// what is measured: the small one has one row in a hundred.
const (
	bigTenant   = "big"
	smallTenant = "small"
)

// batch is how many rows a transaction of the set-up writes.
const batch = 500

// knowledge is a set of entities in one engine. It is filled as far as it is
// needed, once a process.
type knowledge struct {
	engine string
	// entities are those of the big tenant.
	entities int
	*store.Store
	rem *rem.Engine
	// raw is the engine's driver alone, on the same database.
	raw driver
	// location is the file or the URL of the database.
	location string
	// places are the entities by the ids of their rows.
	places map[string]int
	// loading is how long the rows took, embedding and indexing the vectors by
	// their dimensions.
	loading             time.Duration
	embedding, indexing map[int]time.Duration
	spaces              map[int]*corpus.Space
}

// driver is a database without p8.
type driver interface {
	// query runs a statement that is prepared already and reads every column of
	// the result; arguments are string and []float32. It counts the rows.
	query(ctx context.Context, sql string, args ...any) (int, error)
	close() error
}

// opened are the sets of this process, and what must happen at its end.
var opened struct {
	sync.Mutex
	sets    map[string]*knowledge
	closing []func() error
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, end := range slices.Backward(opened.closing) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// benchEntities is the size of the benchmarks' set: P8_BENCH_ENTITIES, else small
// enough for every day.
func benchEntities(tb testing.TB) int {
	tb.Helper()
	text := cmp.Or(os.Getenv("P8_BENCH_ENTITIES"), "2000")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1000 {
		tb.Fatalf("P8_BENCH_ENTITIES is %q, not a number from 1000 on", text)
	}
	return n
}

// onBoth runs a benchmark on each engine.
func onBoth(b *testing.B, run func(*testing.B, *knowledge)) {
	for _, engine := range []string{onSQLite, onPostgres} {
		b.Run(engine, func(b *testing.B) { run(b, open(b, engine, benchEntities(b))) })
	}
}

// open is the set of so many entities.
func open(tb testing.TB, engine string, entities int) *knowledge {
	tb.Helper()
	opened.Lock()
	defer opened.Unlock()
	name := fmt.Sprint(engine, " ", entities)
	if k := opened.sets[name]; k != nil {
		return k
	}
	k := &knowledge{
		engine: engine, entities: entities, places: make(map[string]int),
		embedding: make(map[int]time.Duration), indexing: make(map[int]time.Duration), spaces: make(map[int]*corpus.Space),
	}
	if engine == onSQLite {
		k.openSQLite(tb)
	} else {
		k.openPostgres(tb)
	}
	opened.closing = append(opened.closing, k.Close, k.raw.close)
	k.rem = rem.New(rem.Options{Knowledge: k.Store, Timeout: time.Minute})
	k.load(tb)
	if opened.sets == nil {
		opened.sets = make(map[string]*knowledge)
	}
	opened.sets[name] = k
	return k
}

// as returns a context of a user in a tenant.
func as(tenant string) context.Context {
	return identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: "ada"})
}

// load writes the rows: the entities for the big tenant, and a hundredth of that,
// other ones, for the small.
func (k *knowledge) load(tb testing.TB) {
	tb.Helper()
	start := time.Now()
	for from := 0; from < k.last(); {
		tenant, to := bigTenant, min(from+batch, k.last())
		if from >= k.entities {
			tenant = smallTenant
		} else {
			to = min(to, k.entities)
		}
		rows := make([]*store.Resource, 0, batch)
		for i := from; i < to; i++ {
			rows = append(rows, corpus.Resource(i, k.entities))
		}
		if err := k.Resources().Put(as(tenant), rows...); err != nil {
			tb.Fatal(err)
		}
		for i, row := range rows {
			k.places[row.ID] = from + i
		}
		if from == 0 {
			k.analyze(tb) // else PostgreSQL keeps the plans that it made for empty tables
		}
		from = to
	}
	k.loading = time.Since(start)
	k.analyze(tb)
}

// last is the number of entities of both tenants.
func (k *knowledge) last() int { return k.entities + k.entities/100 }

// model is the embedding model of so many dimensions.
func model(dimensions int) string { return fmt.Sprint("bench-", dimensions) }

// embed gives every row its vector of so many dimensions, as the background job
// does, and indexes them.
func (k *knowledge) embed(tb testing.TB, dimensions int) *corpus.Space {
	tb.Helper()
	opened.Lock()
	defer opened.Unlock()
	if s := k.spaces[dimensions]; s != nil {
		return s
	}
	space, m, ctx := corpus.NewSpace(dimensions), k.Maintenance(), context.Background()
	for {
		tasks, err := m.EmbeddingTasks(ctx, batch)
		if err != nil {
			tb.Fatal(err)
		}
		if len(tasks) == 0 {
			queued, err := m.QueueMissing(ctx, model(dimensions), 100_000)
			if err != nil {
				tb.Fatal(err)
			}
			if queued == 0 {
				break
			}
			continue
		}
		done := make([]store.Embedding, len(tasks))
		for i, t := range tasks {
			done[i] = store.Embedding{Task: t, Vector: space.Vector(k.places[t.EntityID])}
		}
		start := time.Now()
		if _, err := m.PutEmbeddings(ctx, model(dimensions), dimensions, done...); err != nil {
			tb.Fatal(err)
		}
		k.embedding[dimensions] += time.Since(start)
	}
	start := time.Now()
	if err := m.PrepareModel(ctx, model(dimensions), dimensions); err != nil {
		tb.Fatal(err)
	}
	k.indexing[dimensions] = time.Since(start)
	k.analyze(tb)
	k.spaces[dimensions] = space
	return space
}

// asking is an engine of the dialect whose embedding model has made the vectors
// of the questions before.
func (k *knowledge) asking(dimensions int, vectors map[string][]float32) *rem.Engine {
	return rem.New(rem.Options{Knowledge: k.Store, Embedder: made{model(dimensions), vectors}, Timeout: time.Minute})
}

// made is an embedding model that costs nothing.
type made struct {
	model   string
	vectors map[string][]float32
}

func (m made) Name() string         { return m.model }
func (made) MinSimilarity() float64 { return 0 }

func (m made) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v, ok := m.vectors[text]
	if !ok {
		return nil, fmt.Errorf("no vector for %q", text)
	}
	return v, nil
}

// run asks a query of the dialect, which must have so many results.
func run(tb testing.TB, e *rem.Engine, ctx context.Context, query string, want int) rem.Result {
	tb.Helper()
	res, err := e.Run(ctx, query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	if res.Count < want {
		tb.Fatalf("%s: %d results, want %d", query, res.Count, want)
	}
	return res
}

// measure repeats an operation and reports, besides its mean, the median and the
// 99th percentile.
func measure(b *testing.B, operation func(i int)) {
	b.Helper()
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		operation(i)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	for _, percent := range []int{50, 99} {
		at := took[len(took)*percent/100]
		b.ReportMetric(float64(at.Nanoseconds())/1000, fmt.Sprintf("p%d-µs", percent))
	}
}

// quoted is a text that no word of ends a query's.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, "") + `"` }
