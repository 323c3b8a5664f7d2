package routing

import (
	"math"
	"slices"
	"strings"
)

// examples are those of all candidates.
type examples struct {
	of [][]bag // by candidate, in the order of its document
	// have counts the examples that have a word, all is their number.
	have map[string]int
	all  int
}

func newExamples(agents []Candidate) *examples {
	e := &examples{of: make([][]bag, len(agents)), have: map[string]int{}}
	for i, c := range agents {
		if c.Routing == nil {
			continue
		}
		for _, text := range c.Routing.Examples[:min(len(c.Routing.Examples), maxMarks)] {
			b := bagOf(words(text))
			for _, w := range b {
				e.have[w.word]++
			}
			e.of[i] = append(e.of[i], b)
			e.all++
		}
	}
	return e
}

// nearest returns the example of a candidate that is most similar to the message, and the
// similarity: the cosine of their weighted words. An example that shares only common words
// has the similarity 0.
func (e *examples) nearest(message bag, candidate int) (best float64, at int) {
	if len(e.of[candidate]) == 0 {
		return 0, 0
	}
	length := e.product(message, message, nil)
	for i, example := range e.of[candidate] {
		rare := false
		dot := e.product(message, example, &rare)
		if !rare {
			continue
		}
		if cosine := min(1, dot/math.Sqrt(length*e.product(example, example, nil))); cosine > best {
			best, at = cosine, i
		}
	}
	return best, at
}

// product returns the scalar product of two weighted bags; rare, unless nil, is set if
// they share a word that is not common.
func (e *examples) product(a, b bag, rare *bool) (sum float64) {
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0].word, b[0].word); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			w := e.weight(a[0].word)
			sum += float64(a[0].n*b[0].n) * w * w
			if rare != nil && !common(a[0].word) {
				*rare = true
			}
			a, b = a[1:], b[1:]
		}
	}
	return sum
}

// weight returns the weight of a word: the more examples have it, the lower it is.
func (e *examples) weight(word string) float64 {
	const ofCommon = 0.1
	w := 1 + math.Log(float64(1+e.all)/float64(1+e.have[word]))
	if common(word) {
		w *= ofCommon
	}
	return w
}

// bag is a text's words, each with its number, in their order.
type bag []counted

type counted struct {
	word string
	n    int
}

func bagOf(words []string) bag {
	var b bag
	for _, w := range slices.Sorted(slices.Values(words)) {
		if len(b) > 0 && b[len(b)-1].word == w {
			b[len(b)-1].n++
			continue
		}
		b = append(b, counted{w, 1})
	}
	return b
}
