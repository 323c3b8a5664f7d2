package vector

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// texts makes vectors with the distribution of texts: topics, subjects within a topic, and
// an individual part.
type texts struct {
	r                *rand.Rand
	dimensions       int
	common           []float32
	topics, subjects [][]float32
}

func newTexts(dimensions int) *texts {
	t := &texts{r: rand.New(rand.NewPCG(1, 2)), dimensions: dimensions}
	t.common = t.noise()
	for range 100 {
		t.topics = append(t.topics, t.noise())
	}
	for range 2000 {
		t.subjects = append(t.subjects, t.noise())
	}
	return t
}

func (t *texts) noise() []float32 {
	v := make([]float32, t.dimensions)
	for i := range v {
		v[i] = float32(t.r.NormFloat64())
	}
	return v
}

func (t *texts) vector() []float32 { return t.about(t.r.IntN(len(t.subjects))) }

// about is a vector of a subject, whose topic is the subject modulo 100.
func (t *texts) about(subject int) []float32 {
	own := t.noise()
	v := make([]float32, t.dimensions)
	for i := range v {
		v[i] = 0.7*t.common[i] + 0.8*t.topics[subject%len(t.topics)][i] + 0.6*t.subjects[subject][i] + 0.6*own[i]
	}
	return v
}

func id(n int) (id ID) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// exact is the best k by cosines in float64.
func exact(rows []Row, query []float32, k int, pass func(Row) bool) []Hit {
	var list []Hit
	for _, r := range rows {
		if pass == nil || pass(r) {
			list = append(list, Hit{r.ID, r.Owner, Cosine(query, r.Vector)})
		}
	}
	slices.SortFunc(list, func(a, b Hit) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return slices.Compare(a.ID[:], b.ID[:])
	})
	return list[:min(k, len(list))]
}

func recallOf(got, want []Hit) float64 {
	if len(want) == 0 {
		return 1
	}
	found := 0
	for _, w := range want {
		if slices.ContainsFunc(got, func(h Hit) bool { return h.ID == w.ID }) {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

const benchRows = 100_000

func BenchmarkSearch(b *testing.B) {
	for _, dimensions := range []int{384, 1536} {
		source := newTexts(dimensions)
		x := New(dimensions, benchRows)
		rows, byID := make([]Row, benchRows), make(map[ID]Row)
		for n := range rows {
			rows[n] = Row{ID: id(n), Owner: fmt.Sprint(n % 100), Vector: source.vector()}
			x.Put(rows[n])
			byID[id(n)] = rows[n]
		}
		queries := make([][]float32, 40)
		for i := range queries {
			queries[i] = source.vector()
		}
		b.Run(fmt.Sprintf("%d/tune", dimensions), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.tuned = 0
				x.Tune()
			}
			b.ReportMetric(float64(x.Size())/benchRows, "B/vector")
			b.ReportMetric(float64(x.codes.rescore), "rescored")
		})
		for name, owners := range map[string][]string{"all": nil, "one percent": {"7"}} {
			pass := func(r Row) bool { return owners == nil || r.Owner == owners[0] }
			b.Run(fmt.Sprintf("%d/%s", dimensions, name), func(b *testing.B) {
				var recall float64
				for _, q := range queries {
					recall += recallOf(rescored(x, byID, q, 10, Filter{Owners: owners}), exact(rows, q, 10, pass))
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i := 0; b.Loop(); i++ {
					x.Search(queries[i%len(queries)], 10+Margin(10), -1, Filter{Owners: owners})
				}
				b.ReportMetric(recall/float64(len(queries)), "recall@10")
			})
		}
		b.Run(fmt.Sprintf("%d/every vector", dimensions), func(b *testing.B) {
			codes := x.codes
			x.codes.words = nil
			var recall float64
			for _, q := range queries {
				recall += recallOf(rescored(x, byID, q, 10, Filter{}), exact(rows, q, 10, nil))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				x.Search(queries[i%len(queries)], 10+Margin(10), -1, Filter{})
			}
			b.ReportMetric(recall/float64(len(queries)), "recall@10")
			x.codes = codes
		})
	}
}

func BenchmarkDot(b *testing.B) {
	b.ReportAllocs()
	v, q := make([]int8, 1536), make([]int16, 1536)
	for b.Loop() {
		dot(v, q)
	}
}
