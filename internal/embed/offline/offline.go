// Package offline is an embedding model that needs nothing: no server, no
// download, no key. It exists so that SEARCH works from the first minute.
//
//	model, err := offline.New(offline.Options{})
//	vector, err := model.EmbedQuery(ctx, "how do I change the database?")
//
// It is lexical: it knows words, pairs of words and pieces of words, not what
// they mean. "databases" is near "database", and "DB" is near neither. Each
// such feature is hashed to a place and a sign in the vector (feature hashing:
// Weinberger et al., 2009; pieces of words as in fastText: Bojanowski et al.,
// 2017), weighted by how telling it is, and the whole is scaled to length 1.
// No vocabulary, no training, and no language is preferred: scripts without
// spaces between words count pairs of characters.
//
// The same text has the same vector on every machine and in every version, as
// a golden file proves; what changes it must change the model's name.
package offline

import (
	"context"
	"fmt"
	"sync"

	"github.com/p8-org/p8/internal/embed"
)

// The lengths of vectors that the model makes.
const (
	// Dimensions is the length unless another is asked for. Longer vectors have
	// fewer accidental similarities and need more room.
	Dimensions    = 384
	minDimensions = 64
	maxDimensions = 4096
)

// maxText is how much of a text counts, in bytes; a chunk is far shorter.
const maxText = 64 << 10

// Options configure a Model; the zero value is the default model.
type Options struct {
	// Dimensions is the length of the vectors; 384 when 0.
	Dimensions int
}

// Model implements embed.Model.
type Model struct {
	name       string
	dimensions int
	scratch    sync.Pool // of *counter
}

// New makes a model.
func New(o Options) (*Model, error) {
	if o.Dimensions == 0 {
		o.Dimensions = Dimensions
	}
	name := fmt.Sprintf("offline:ngram-%d", o.Dimensions)
	if o.Dimensions < minDimensions || o.Dimensions > maxDimensions {
		return nil, &embed.Error{Kind: embed.NoModel, Model: name, Hint: fmt.Sprintf("its vectors have %d to %d dimensions", minDimensions, maxDimensions)}
	}
	return &Model{
		name: name, dimensions: o.Dimensions,
		scratch: sync.Pool{New: func() any { return new(counter) }},
	}, nil
}

// Name is "offline:ngram-384", or with another number.
func (m *Model) Name() string { return m.name }

// String is the name.
func (m *Model) String() string { return m.name }

// Dimensions is the length of the vectors.
func (m *Model) Dimensions() int { return m.dimensions }

// MinSimilarity is where a shared word or two begins to show above the chance
// similarities of unrelated texts.
func (m *Model) MinSimilarity() float64 { return 0.1 }

// Embed makes a vector of each text; only a text without letters and digits has
// none.
func (m *Model) Embed(ctx context.Context, texts []string) []embed.Result {
	c := m.scratch.Get().(*counter)
	defer m.scratch.Put(c)
	results := make([]embed.Result, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			results[i].Err = err
			continue
		}
		v := make([]float32, m.dimensions)
		if c.embed(text, v) {
			results[i].Vector = v
		} else {
			results[i].Err = embed.ErrEmpty
		}
	}
	return results
}

// EmbedQuery makes the vector of a question as of any text.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	r := m.Embed(ctx, []string{text})[0]
	return r.Vector, r.Err
}
