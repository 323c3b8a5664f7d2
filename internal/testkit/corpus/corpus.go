// Package corpus generates knowledge for tests and benchmarks: any number of entities,
// always the same ones, with similar names, texts about topics, edges, and vectors in
// clusters like those of embedding models.
//
//	for row := range corpus.Resources(100_000) { … }
package corpus

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/p8-org/p8/store"
)

const (
	// Topics is the number of topics of the texts and vectors, Subjects that of the
	// vectors within a topic.
	Topics   = 50
	Subjects = 2000
	// Fanout is the number of edges of an entity: a TRAVERSE of depth 3 finds 40
	// entities.
	Fanout = 3
	// words of a text, at least and at most.
	fewestWords, mostWords = 30, 90
	vocabulary             = 6000
)

// Name returns the name of entity i.
func Name(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	first := firsts[r.IntN(len(firsts))]
	last := word(r.IntN(2000)) + endings[r.IntN(len(endings))]
	return fmt.Sprintf("%s %s%s %d", first, strings.ToUpper(last[:1]), last[1:], i)
}

// Key returns the key of entity i.
func Key(i int) string { return store.NormalizeKey(Name(i)) }

// Topic returns the topic of entity i, 0 to Topics-1.
func Topic(i int) int { return i % Topics }

// Text returns the text of entity i: words of its topic among common words.
func Text(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 2))
	var b strings.Builder
	for n := range fewestWords + r.IntN(mostWords-fewestWords) {
		if n > 0 {
			b.WriteByte(' ')
		}
		// Low numbers are common, as in a language.
		w := int(float64(vocabulary) * math.Pow(r.Float64(), 3))
		if r.IntN(3) == 0 {
			w = vocabulary + Topic(i)*40 + r.IntN(40)
		}
		b.WriteString(word(w))
	}
	return b.String()
}

// Edges returns the edges of entity i among n.
func Edges(i, n int) []store.Edge {
	edges := make([]store.Edge, 0, Fanout)
	for j := range Fanout {
		to := (i*Fanout + j + 1) % n
		if to != i {
			edges = append(edges, store.Edge{Target: Key(to), Relation: relations[j%len(relations)], Weight: 1 / float64(j+1)})
		}
	}
	return edges
}

// Resource returns entity i of n as a shared resource.
func Resource(i, n int) *store.Resource {
	return &store.Resource{
		Base: store.Base{Shared: true, GraphEdges: Edges(i, n)},
		Name: Name(i), Content: Text(i), Category: fmt.Sprintf("topic-%d", Topic(i)), Ordinal: i,
	}
}

// Resources yields n entities in order.
func Resources(n int) iter.Seq[*store.Resource] {
	return func(yield func(*store.Resource) bool) {
		for i := range n {
			if !yield(Resource(i, n)) {
				return
			}
		}
	}
}

// Space makes the vectors of the entities. Like those of embedding models, they lie in
// one half of the space, clustered by topic, by subject within a topic, and spread by
// text.
type Space struct {
	dimensions int
	// centres are the centres of the subjects.
	centres [][]float32
}

// NewSpace makes a space of so many dimensions.
func NewSpace(dimensions int) *Space {
	s := &Space{dimensions: dimensions}
	common := s.noise(0, 3)
	for subject := range Subjects {
		topic, own := s.noise(subject%Topics, 4), s.noise(subject, 5)
		for d := range own {
			own[d] = 0.7*common[d] + 0.8*topic[d] + 0.6*own[d]
		}
		s.centres = append(s.centres, own)
	}
	return s
}

func (s *Space) noise(seed int, kind uint64) []float32 {
	r := rand.New(rand.NewPCG(uint64(seed), kind))
	v := make([]float32, s.dimensions)
	for d := range v {
		v[d] = float32(r.NormFloat64())
	}
	return v
}

// Vector returns the vector of entity i, of length 1. The vectors of entities outside of
// a set are good queries for it.
func (s *Space) Vector(i int) []float32 {
	v := s.noise(i, 6)
	var sum float64
	for d, c := range s.centres[i%Subjects] {
		v[d] = c + 0.6*v[d]
		sum += float64(v[d]) * float64(v[d])
	}
	scale := float32(1 / math.Sqrt(sum))
	for d := range v {
		v[d] *= scale
	}
	return v
}

// word returns the n-th word of the texts' language: up to three syllables, common words
// shorter, so that it has as many trigrams as a natural language.
func word(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var b strings.Builder
	// n has one to four digits.
	for range max(1, (len(strconv.Itoa(n))+r.IntN(3))/2) {
		b.WriteString(onsets[r.IntN(len(onsets))])
		b.WriteString(vowels[r.IntN(len(vowels))])
	}
	return b.String() + codas[r.IntN(len(codas))]
}

var (
	onsets = []string{
		"b", "bl", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "fr", "g", "gl", "gr", "h", "j", "k", "l", "m", "n", "p", "ph", "pl",
		"pr", "qu", "r", "s", "sc", "sh", "sl", "sp", "st", "str", "t", "th", "tr", "v", "w", "wh", "y", "z", "", "",
	}
	vowels = []string{"a", "e", "i", "o", "u", "ai", "ea", "ee", "ie", "io", "oa", "ou", "a", "e", "i", "o"}
	codas  = []string{"", "", "", "", "b", "ck", "d", "g", "l", "ll", "m", "n", "nd", "ng", "nt", "p", "r", "rd", "rt", "s", "ss", "st", "t", "ve", "x"}

	endings = []string{"son", "berg", "ova", "ez", "i", "sen", "stein", "ler"}
	firsts  = []string{
		"Sarah", "Mike", "Élodie", "Jürgen", "Ana", "Chen", "Priya", "Olu", "Yuki", "Tomás", "Ingrid", "Samir",
		"Project", "Report", "Design", "Meeting", "Invoice", "Release", "Service", "Cluster",
	}
	relations = []string{"works_on", "manages", "mentions"}
)
