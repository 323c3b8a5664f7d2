package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// What the indexes answer is compared with what looking at every row answers,
// computed here from the definitions alone (PostgreSQL's manual, F.35 pg_trgm).

// near is how far two scores may be apart and still be one.
const near = 1e-4

// fuzzyQuestions are texts as people type them, of so many kinds: a name with a
// mistake, part of a name, words of a text.
func fuzzyQuestions(kind string, n, entities int) []string {
	var list []string
	for i := range n {
		e := (i*entities/n + 17*i) % entities
		name, words := corpus.Name(e), strings.Fields(corpus.Text(e))
		switch kind {
		case "misspelt":
			runes := []rune(name)
			list = append(list, string(slices.Delete(runes, 3+i%3, 4+i%3)))
		case "part":
			list = append(list, strings.Join(strings.Fields(name)[:2], " "))
		case "words":
			list = append(list, strings.Join(words[2:5], " "))
		}
	}
	return list
}

// fuzzyKinds are the kinds of fuzzyQuestions.
var fuzzyKinds = []string{"misspelt", "part", "words"}

// trigrams are those of a text in order, repeated ones too.
func trigrams(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		runes := []rune("  " + word + " ")
		for i := range len(runes) - 2 {
			list = append(list, string(runes[i:i+3]))
		}
	}
	return list
}

// question is a text as the exact ranking sees it.
type question struct {
	trigrams map[string]bool
	// scores are those of the rows that count, by key.
	scores map[string]float64
}

// exactFuzzy scores every row of the big tenant for at most 64 texts.
func exactFuzzy(entities int, texts []string) []question {
	list := make([]question, len(texts))
	wanted := make(map[string]uint64)
	for i, text := range texts {
		list[i] = question{make(map[string]bool), make(map[string]float64)}
		for _, t := range trigrams(text) {
			list[i].trigrams[t] = true
			wanted[t] |= 1 << i
		}
	}
	var mu sync.Mutex
	halves(entities, func(e int) {
		key := corpus.Key(e)
		text := corpus.Text(e)
		for _, field := range []string{key, text[:min(500, len(text))]} {
			ordered := trigrams(field)
			var shared [64]int
			distinct := make(map[string]bool, len(ordered))
			for _, t := range ordered {
				if distinct[t] {
					continue
				}
				distinct[t] = true
				for mask, i := wanted[t], 0; mask != 0; mask, i = mask>>1, i+1 {
					shared[i] += int(mask & 1)
				}
			}
			for i, q := range list {
				n := len(q.trigrams)
				score := float64(shared[i]) / float64(n+len(distinct)-shared[i])
				if float64(shared[i]) >= 0.6*float64(n) {
					if w := wordSimilarity(q.trigrams, ordered); w >= 0.6 {
						score = max(score, w)
					}
				}
				if score >= store.DefaultThreshold {
					mu.Lock()
					q.scores[key] = max(q.scores[key], score)
					mu.Unlock()
				}
			}
		}
	})
	return list
}

// wordSimilarity is the greatest similarity of a set to any stretch of a text's
// trigrams.
func wordSimilarity(words map[string]bool, ordered []string) float64 {
	best := 0.0
	for from, first := range ordered {
		if !words[first] {
			continue
		}
		shared, seen := 0, make(map[string]bool)
		for _, t := range ordered[from:] {
			if !seen[t] {
				seen[t] = true
				if words[t] {
					shared++
				}
			}
			best = max(best, float64(shared)/float64(len(words)+len(seen)-shared))
			// A longer stretch could not come to 0.6 any more.
			if 0.6*float64(len(seen)) > float64(len(words)) {
				break
			}
		}
	}
	return best
}

// recall is how many of the ten best rows were found; of rows with the same
// score, one is as good as another.
func (q question) recall(found []rem.Row) (hit, of int) {
	scores := make([]float64, 0, len(q.scores))
	for _, s := range q.scores {
		scores = append(scores, s)
	}
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	if of = min(10, len(scores)); of == 0 {
		return 0, 0
	}
	for _, row := range found {
		if q.scores[row.Key] >= scores[of-1]-near {
			hit++
		}
	}
	return min(hit, of), of
}

// fuzzyRecall is the share of the ten best rows that FUZZY finds.
func (k *knowledge) fuzzyRecall(tb testing.TB, texts []string) float64 {
	tb.Helper()
	hit, of := 0, 0
	for i, q := range exactFuzzy(k.entities, texts) {
		res := run(tb, k.rem, as(bigTenant), "FUZZY "+quoted(texts[i])+" LIMIT 10", 0)
		h, o := q.recall(res.Results)
		hit, of = hit+h, of+o
	}
	if of == 0 {
		tb.Fatal("nothing resembles the texts")
	}
	return float64(hit) / float64(of)
}

// halves calls each for every number below n, in two goroutines.
func halves(n int, each func(int)) {
	var wg sync.WaitGroup
	for _, part := range [][2]int{{0, n / 2}, {n / 2, n}} {
		wg.Go(func() {
			for i := part[0]; i < part[1]; i++ {
				each(i)
			}
		})
	}
	wg.Wait()
}

// searches are questions with their vectors, which are those of entities that
// the set does not have.
func (k *knowledge) searches(tb testing.TB, dimensions, n int) (texts []string, vectors map[string][]float32) {
	space := k.embed(tb, dimensions)
	vectors = make(map[string][]float32)
	for i := range n {
		text := fmt.Sprint("question ", i)
		texts = append(texts, text)
		vectors[text] = space.Vector(k.last() + 1 + 13*i)
	}
	return texts, vectors
}

// filter is which rows a search is about.
type filter struct {
	name, tenant, clause string
	from, to             int
	// topic is that of the category, -1 for any.
	topic int
}

// filters are the searches that are measured.
func (k *knowledge) filters() []filter {
	return []filter{
		{"all", bigTenant, "", 0, k.entities, -1},
		{"tenant of 1 percent", smallTenant, "", k.entities, k.last(), -1},
		{"category of 2 percent", bigTenant, " CATEGORY topic-7", 0, k.entities, 7},
	}
}

// searchRecall is the share of the ten nearest rows that SEARCH finds, by filter.
func (k *knowledge) searchRecall(tb testing.TB, dimensions int, texts []string, vectors map[string][]float32) map[string]float64 {
	tb.Helper()
	type hit struct {
		entity int
		score  float32
	}
	filters, space := k.filters(), k.embed(tb, dimensions)
	best := make([][]hit, len(filters)*len(texts))
	var mu sync.Mutex
	halves(k.last(), func(e int) {
		v := space.Vector(e)
		for n, text := range texts {
			var dot float32
			for d, x := range vectors[text] {
				dot += x * v[d]
			}
			for m, f := range filters {
				if e < f.from || e >= f.to || f.topic >= 0 && f.topic != corpus.Topic(e) {
					continue
				}
				mu.Lock()
				list := &best[m*len(texts)+n]
				if len(*list) < 10 || dot > (*list)[9].score {
					at, _ := slices.BinarySearchFunc(*list, dot, func(h hit, s float32) int { return cmp.Compare(s, h.score) })
					*list = slices.Insert(*list, at, hit{e, dot})
					*list = (*list)[:min(10, len(*list))]
				}
				mu.Unlock()
			}
		}
	})
	e, recall := k.asking(dimensions, vectors), make(map[string]float64)
	for m, f := range filters {
		found, of := 0, 0
		for n, text := range texts {
			res := run(tb, e, as(f.tenant), "SEARCH "+quoted(text)+f.clause, 1)
			for _, want := range best[m*len(texts)+n] {
				of++
				if slices.ContainsFunc(res.Results, func(r rem.Row) bool { return r.Key == corpus.Key(want.entity) }) {
					found++
				}
			}
		}
		recall[f.name] = float64(found) / float64(of)
	}
	return recall
}
