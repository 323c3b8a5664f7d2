package trgm

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

func similarity(a, b string) float64 {
	x, y := set(a), set(b)
	shared := 0
	for _, t := range x {
		if slices.Contains(y, t) {
			shared++
		}
	}
	return ratio(shared, len(x), len(y))
}

func wordSimilarityOf(words, text string) float64 {
	return newMatcher(set(words)).similarity(text, 1e-6)
}

// The vectors are what PostgreSQL 15's pg_trgm 1.6 answers, in a database with
// the locale C.UTF-8, for every pair of the texts.
func TestMeasuresArePostgreSQLs(t *testing.T) {
	b, err := os.ReadFile("testdata/pg_trgm.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Texts          []string
		Similarity     [][]float64
		WordSimilarity [][]float64 `json:"word_similarity"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	for i, x := range v.Texts {
		for j, y := range v.Texts {
			if got, want := similarity(x, y), v.Similarity[i][j]; math.Abs(got-want) > 1e-5 {
				t.Errorf("similarity(%q, %q) = %g, want %g", x, y, got, want)
			}
			if got, want := wordSimilarityOf(x, y), v.WordSimilarity[i][j]; math.Abs(got-want) > 1e-5 {
				t.Errorf("wordSimilarityOf(%q, %q) = %g, want %g", x, y, got, want)
			}
		}
	}
}

// scan computes the expected result of Search without an index.
func scan(docs map[string]Doc, text string, threshold, words float64, limit int) []Hit {
	var hits []Hit
	for _, d := range docs {
		h := Hit{Doc: d, Similarity: max(similarity(d.Key, text), similarity(d.Summary, text))}
		if h.Similarity >= threshold {
			h.Score = h.Similarity
		}
		if w := max(wordSimilarityOf(text, d.Key), wordSimilarityOf(text, d.Summary)); w >= words {
			h.Score = max(h.Score, w)
		}
		if h.Score > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, Compare)
	return hits[:min(limit, len(hits))]
}

func randomText(r *rand.Rand, n int) string {
	words := strings.Fields("agent session memory report quarterly sarah chen plan review model tool budget the of a and café мир 日本")
	list := make([]string, 1+r.IntN(n))
	for i := range list {
		list[i] = words[r.IntN(len(words))]
	}
	return strings.Join(list, " ")
}

func TestSearchFindsWhatAScanFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, docs := NewIndex(), map[string]Doc{}
	for step := range 1500 {
		id := fmt.Sprint("id", r.IntN(300))
		if r.IntN(4) == 0 {
			x.Delete(id)
			delete(docs, id)
			continue
		}
		d := Doc{id, strings.ReplaceAll(randomText(r, 3), " ", "-"), randomText(r, 40)}
		x.Put(d)
		docs[id] = d
		if step%20 != 0 {
			continue
		}
		text, limit := randomText(r, 4), 1+r.IntN(12)
		got, want := x.Search(text, 0.3, 0.6, limit), scan(docs, text, 0.3, 0.6, limit)
		if !slices.Equal(got, want) {
			t.Fatalf("step %d, %q, limit %d:\n got %v\nwant %v", step, text, limit, got, want)
		}
	}
	if len(x.docs) > 2*len(docs)+128 {
		t.Errorf("%d entries for %d documents: the dead are not removed", len(x.docs), len(docs))
	}
}

func FuzzMeasures(f *testing.F) {
	f.Add("Sarah Chen", "sarah-chen")
	f.Add("\xff\x00", "日本 a")
	f.Fuzz(func(t *testing.T, a, b string) {
		s, w := similarity(a, b), wordSimilarityOf(a, b)
		if s < 0 || s > 1 || w < 0 || w > 1 {
			t.Errorf("Similarity %g and WordSimilarity %g of %q and %q are not in 0…1", s, w, a, b)
		}
		if s != similarity(b, a) {
			t.Errorf("Similarity of %q and %q is not symmetrical", a, b)
		}
		if len(a) <= 200 && len(b) <= 200 && w < s-1e-9 && len(set(a)) > 0 {
			// The whole text is one of the stretches, except for what surrounds its
			// first and last shared trigram, which only makes it less alike.
			t.Errorf("WordSimilarity %g of %q in %q is less than Similarity %g", w, a, b, s)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10_000, 100_000} {
		x := NewIndex()
		for i := range n {
			x.Put(Doc{fmt.Sprint(i), fmt.Sprintf("%s-%d", strings.ReplaceAll(randomText(r, 3), " ", "-"), i), randomText(r, 10)})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(x.Search("quarterly report of sarah", 0.3, 0.6, 10)) == 0 {
					b.Fatal("nothing found")
				}
			}
		})
	}
}
