package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// place is a row with a vector.
type place struct {
	tenant, user, table, id, category string
	vector                            []float32
}

// unit is a random vector of length 1.
func unit(r *rand.Rand, dimensions int) []float32 {
	v, sum := make([]float32, dimensions), 0.0
	for i := range v {
		x := r.NormFloat64()
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func cosine(a, b []float32) float64 {
	var dot, x, y float64
	for i := range a {
		dot, x, y = dot+float64(a[i])*float64(b[i]), x+float64(a[i])*float64(a[i]), y+float64(b[i])*float64(b[i])
	}
	return dot / math.Sqrt(x*y)
}

const model = "test:embed-3 small"

// populate writes rows and vectors past the store.
func populate(t testing.TB, e *engine, places []place) {
	t.Helper()
	ctx := t.Context()
	for chunk := range slices.Chunk(places, 1000) {
		err := e.WriteSystem(ctx, func(c store.Conn) error {
			for _, p := range chunk {
				var user, category any
				if p.user != "" {
					user = p.user
				}
				columns, values := "", ""
				if p.table != "schemas" {
					columns, values, category = ", category", ", $5", p.category
				} else {
					columns, values, category = ", kind", ", $5", "agent"
				}
				if _, err := c.Exec(ctx, `INSERT INTO `+p.table+` (tenant_id, id, user_id, name, created_at, updated_at`+columns+`)
					VALUES ($1, $2, $3, $4, now(), now()`+values+`)`,
					p.tenant, p.id, user, p.id, category); err != nil {
					return err
				}
				if _, err := c.Exec(ctx, `INSERT INTO embeddings
					(tenant_id, table_name, entity_id, field_name, model, dimensions, content_hash, user_id, embedding, created_at)
					VALUES ($1, $2, $3, 'content', $4, $5, '', $6, $7, now())`,
					p.tenant, p.table, p.id, model, len(p.vector), user, p.vector); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (p place) visible(sc store.Scope) bool {
	return slices.Contains(sc.Reads(p.table), store.RowOwner{TenantID: p.tenant, UserID: p.user})
}

// nearest is the exact answer.
func nearest(places []place, sc store.Scope, q store.SearchQuery, ids []string) []store.Ranked {
	var list []store.Ranked
	for _, p := range places {
		if p.table != q.Table || !p.visible(sc) || q.Category != "" && p.category != q.Category || ids != nil && !slices.Contains(ids, p.id) ||
			len(p.vector) != len(q.Vector) {
			continue
		}
		if score := cosine(p.vector, q.Vector); score >= q.MinSimilarity || q.MinSimilarity == 0 {
			list = append(list, store.Ranked{TenantID: p.tenant, ID: p.id, Score: score})
		}
	}
	slices.SortFunc(list, func(a, b store.Ranked) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(q.Limit, len(list))]
}

// knowledge is rows of two users, a small tenant, everybody's and the system's.
func knowledge(n, dimensions int) []place {
	r := rand.New(rand.NewPCG(1, 2))
	var list []place
	for i := range n {
		p := place{tenant: "big", table: "resources", id: fmt.Sprint("r", i), category: fmt.Sprint("c", i%7), vector: unit(r, dimensions)}
		switch i % 20 {
		case 0:
			p.tenant = []string{"small", identity.SystemTenant, "other", "third", "fourth"}[i/20%5]
		case 2, 3:
			p.user = "ute"
		case 4:
			p.user = "max"
		case 5:
			p.table = "moments"
		case 6:
			p.table, p.user = "moments", "ute"
		case 7:
			p.table = "schemas"
		}
		list = append(list, p)
	}
	return list
}

func TestNearest(t *testing.T) {
	ctx := t.Context()
	e := openEngine(t)
	places := knowledge(3000, 24)
	populate(t, e, places)
	r := rand.New(rand.NewPCG(3, 4))
	check := func(t *testing.T) {
		found, all := 0, 0
		for _, sc := range []store.Scope{
			{Tenant: "big", User: "ute"}, {Tenant: "big"}, {Tenant: "small", User: "ute"}, {Tenant: "other"}, {Tenant: identity.SystemTenant},
		} {
			for _, q := range []store.SearchQuery{
				{Table: "resources", Limit: 10},
				{Table: "resources", Limit: 200},
				{Table: "resources", Limit: 10, Category: "c3"},
				{Table: "resources", Limit: 10, MinSimilarity: 0.3},
				{Table: "resources", Limit: 10, Field: "content"},
				{Table: "moments", Limit: 10},
				{Table: "schemas", Limit: 10},
			} {
				q.Model, q.Vector = model, unit(r, 24)
				for _, ids := range [][]string{nil, {"r2", "r9", "r10", "r11", "r3"}, {}} {
					got, err := e.Nearest(ctx, sc, q, ids)
					if err != nil {
						t.Fatal(err)
					}
					want := nearest(places, sc, q, ids)
					if len(got) != len(want) {
						t.Errorf("%+v %s %s %v: %d rows, want %d", sc, q.Table, q.Category, ids, len(got), len(want))
					}
					scores := make(map[[2]string]float64)
					for _, x := range want {
						scores[[2]string{x.TenantID, x.ID}] = x.Score
					}
					all += len(want)
					for i, x := range got {
						if i > 0 && x.Score > got[i-1].Score {
							t.Errorf("%+v: row %d is nearer than the one before", sc, i)
						}
						if score, ok := scores[[2]string{x.TenantID, x.ID}]; ok {
							if found++; math.Abs(score-x.Score) > 1e-5 {
								t.Errorf("%s has score %v, want %v", x.ID, x.Score, score)
							}
						}
					}
				}
			}
		}
		if recall := float64(found) / float64(all); recall < 0.99 {
			t.Errorf("recall is %.3f", recall)
		}
	}
	t.Run("exact", check)
	if err := e.PrepareModel(ctx, model, 24); err != nil {
		t.Fatal(err)
	}
	analyze(t, e)
	t.Run("indexed", check)
}

// The index serves the search of a large tenant, and a small tenant is read
// exactly.
func TestNearestPlans(t *testing.T) {
	e := openEngine(t)
	populate(t, e, knowledge(5000, 64))
	if err := e.PrepareModel(t.Context(), model, 64); err != nil {
		t.Fatal(err)
	}
	analyze(t, e)
	for tenant, want := range map[string]string{"big": indexName("resources", model, 64), "small": "embeddings_owner"} {
		sc := store.Scope{Tenant: tenant, User: "ute"}
		s, err := nearestStatement(sc,
			store.SearchQuery{Table: "resources", Model: model, Vector: unit(rand.New(rand.NewPCG(1, 1)), 64), Limit: 10}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if plan := explain(t, e, sc, s); !strings.Contains(plan, want) {
			t.Errorf("tenant %s: no %s in\n%s", tenant, want, plan)
		}
	}
}

// explain is the plan of a statement for its arguments.
func explain(t testing.TB, e *engine, sc store.Scope, s *statement) string {
	t.Helper()
	var plan strings.Builder
	asked := &statement{args: s.args}
	asked.add("EXPLAIN %s", s.sql.String())
	settings := store.Statement{SQL: `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`}
	err := asked.under(t.Context(), e, sc, settings, func(r store.Row) error {
		var line string
		err := r.Scan(&line)
		plan.WriteString(line + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

func TestVectorTypes(t *testing.T) {
	ctx := t.Context()
	e := openEngine(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, dimensions := range []int{2000, 3072, 4100} {
		var places []place
		for i := range 20 {
			places = append(places, place{tenant: "t", table: "resources", id: fmt.Sprint(dimensions, "-", i), vector: unit(r, dimensions)})
		}
		populate(t, e, places)
		if err := e.PrepareModel(ctx, model, dimensions); err != nil {
			t.Fatalf("%d dimensions: %v", dimensions, err)
		}
		q := store.SearchQuery{Table: "resources", Model: model, Vector: unit(r, dimensions), Limit: 5}
		got, err := e.Nearest(ctx, store.Scope{Tenant: "t"}, q, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range nearest(places, store.Scope{Tenant: "t"}, q, nil) {
			if i >= len(got) || got[i].ID != want.ID || math.Abs(got[i].Score-want.Score) > 1e-4 {
				t.Errorf("%d dimensions: %v, want %v as number %d", dimensions, got, want, i)
				break
			}
		}
	}
}

// Replicas that prepare a model at once make its indexes once; a broken-off
// build is repaired.
func TestPrepareModel(t *testing.T) {
	ctx := t.Context()
	url := emptyDatabase(t)
	var engines []*engine
	for range 3 {
		e, err := open(ctx, Options{URL: url, MaxConns: 2, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines = append(engines, e)
	}
	populate(t, engines[0], knowledge(200, 8))
	prepare := func() {
		var wg sync.WaitGroup
		for _, e := range engines {
			wg.Go(func() {
				if err := e.PrepareModel(ctx, model, 8); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if missing, err := engines[0].missingIndexes(ctx, model, 8); len(missing) != 0 || err != nil {
			t.Errorf("without an index: %v, %v", missing, err)
		}
	}
	prepare()
	// A build that broke off leaves such an index; here a row of another size
	// breaks it off.
	name := indexName("resources", model, 8)
	execute(t, url, `DROP INDEX `+name, `UPDATE embeddings SET dimensions = 8, embedding = '[1,2]' WHERE entity_id = 'r2'`)
	if err := engines[0].PrepareModel(ctx, model, 8); err == nil {
		t.Error("a vector of another size is indexed")
	}
	if missing, _ := engines[0].missingIndexes(ctx, model, 8); !slices.Equal(missing, []string{"resources"}) {
		t.Errorf("without an index: %v, want resources", missing)
	}
	execute(t, url, `DELETE FROM embeddings WHERE entity_id = 'r2'`)
	prepare()
}

func TestModelNames(t *testing.T) {
	e := openEngine(t)
	for _, name := range []string{"", "a'b", `a\b`, "a\"b", "a;b", "a\x00", "ü", " a", "x'); DROP TABLE embeddings; --", strings.Repeat("a", 201)} {
		if err := e.PrepareModel(t.Context(), name, 8); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q is prepared: %v", name, err)
		}
		if _, err := e.Nearest(t.Context(), store.Scope{}, store.SearchQuery{Table: "resources", Model: name, Vector: make([]float32, 8)}, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q is searched: %v", name, err)
		}
	}
	for _, table := range []string{"files", "", "resources; DROP TABLE users"} {
		if _, err := e.Nearest(t.Context(), store.Scope{}, store.SearchQuery{Table: table, Model: model, Vector: make([]float32, 8)}, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("the table %q is searched: %v", table, err)
		}
		if _, err := e.Keywords(t.Context(), store.Scope{}, store.SearchQuery{Table: table}, []store.Term{{Word: "x"}}, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("the words of table %q are searched: %v", table, err)
		}
	}
	for _, name := range []string{"openai:text-embedding-3-small", "ollama:nomic-embed-text:v1.5", "local", "hf:org/model@main", "offline: hashed n-grams"} {
		if err := checkModel(name, 384); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, n := range []int{0, -1, 16001} {
		if err := checkModel("m", n); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%d dimensions: %v", n, err)
		}
	}
}
