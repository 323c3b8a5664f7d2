package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

func as(ctx context.Context, tenant, user string) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: tenant, UserID: user})
}

// bothStores hold the same rows, one in each engine: the corpus and names of
// many scripts, of two users, shared and the system's.
func bothStores(t *testing.T, n int) []*store.Store {
	t.Helper()
	embedded, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { embedded.Close() })
	stores := []*store.Store{embedded, openStore(t)}
	odd := []string{
		"Sarah Chen", "SARAH CHEN (Berlin)", "Çelik İstanbul", "Straße 12 ÄÖÜ", "Ελληνικά ΣΑΣ", "Привет мир", "日本語 文書 管理", "हिन्दी भाषा",
		"한국어 문서", "e\u0301cole", "a", "ab", "x-y-z", "½ cup ²", "naïve café", "I ı İ i", "ﬁligree ǅ", "Ⅳ quarter", "١٢٣ العربية",
	}
	for _, s := range stores {
		var rows []*store.Resource
		for i := range n {
			rows = append(rows, corpus.Resource(i, n))
		}
		for i, name := range odd {
			rows = append(rows, &store.Resource{Name: fmt.Sprint(name, " ", i), Content: strings.Repeat(name+" in a longer text ", 1+i%5)})
			rows = append(rows, &store.Resource{Name: name, Content: name, Base: store.Base{Shared: true}})
		}
		for ctx, list := range map[context.Context][]*store.Resource{
			as(t.Context(), "one", "ute"):              rows,
			as(t.Context(), "one", "max"):              {{Name: "Sarah Chen", Content: "of Max"}},
			as(t.Context(), identity.SystemTenant, ""): {{Name: "Sarah Chen", Content: "of everybody"}, {Name: "Report", Content: odd[4]}},
			as(t.Context(), "two", ""):                 {{Name: "Sarah Chen", Content: "of another tenant"}},
		} {
			for part := range slices.Chunk(list, 250) {
				if err := s.Resources().Put(ctx, part...); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return stores
}

// Both engines find the same rows, with the same scores, in the same order.
func TestFuzzyEqualsTheEmbeddedEngine(t *testing.T) {
	stores := bothStores(t, 1200)
	texts := []string{
		"sarah chen", "Sara Chan", "chen", "project", "cluster report", "what does the quarterly report say", "zzz", "", "!?", "a", "ab",
		"straße ÄÖÜ", "istanbul", "İstanbul", "ΣΑΣ", "привет", "日本語", "文書", "हिन्दी", "한국어 문서", "ecole", "école", "½ cup", "filigree", "iv quarter", "١٢٣",
		"in a longer text", "a\x00b\xff", strings.Repeat("sarah chen ", 80), "report 1", "élodie", "release-17", corpus.Text(7)[:60], corpus.Text(9), corpus.Text(3) + corpus.Text(4), corpus.Name(1199),
	}
	for i := range 15 {
		texts = append(texts, corpus.Name(i*61))
	}
	compared := 0
	for _, who := range [][2]string{{"one", "ute"}, {"one", ""}, {"two", "ute"}} {
		ctx := as(t.Context(), who[0], who[1])
		for _, text := range texts {
			for _, x := range []struct {
				threshold float64
				limit     int
			}{{0, 0}, {0.5, 10}, {0.7, 10}, {0.05, 50}, {1, 10}} {
				if x.threshold == 0.05 && len(text) > 20 {
					continue
				}
				want, err := stores[0].Fuzzy(ctx, text, x.threshold, x.limit)
				if err != nil {
					t.Fatal(err)
				}
				got, err := stores[1].Fuzzy(ctx, text, x.threshold, x.limit)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) {
					t.Errorf("%v %.40q %+v: %d rows, want %d", who, text, x, len(got), len(want))
					continue
				}
				for i, w := range want {
					g := got[i]
					compared++
					if math.Abs(g.Score-w.Score) > 0.001 || g.Key != w.Key || g.ID != w.ID || g.Own != w.Own || g.Summary != w.Summary || g.Type != w.Type {
						t.Errorf("%v %.40q %+v: number %d is %s %.4f, want %s %.4f", who, text, x, i, g.Key, g.Score, w.Key, w.Score)
						break
					}
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d rows were compared", compared)
	}
}

// checkFuzzyPlan: the index serves each of the four measures, in a database that fill filled.
func checkFuzzyPlan(t *testing.T, e *engine) {
	t.Helper()
	sc := store.Scope{Tenant: "t", User: "u"}
	plan := explain(t, e, sc, fuzzyStatement(sc, "sarah chen", 0.3, 10))
	if n := strings.Count(plan, "Bitmap Index Scan on kv_store_trigrams"); n != 4 || strings.Contains(plan, "Seq Scan") {
		t.Errorf("the index serves %d measures:\n%s", n, plan)
	}
}
