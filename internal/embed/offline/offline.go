// Package offline is an embedding model without a server, a download or a key, so that
// SEARCH works from the first minute.
//
//	model, err := offline.New(offline.Options{})
//	vector, err := model.EmbedQuery(ctx, "how do I change the database?")
//
// The model is lexical: it compares words, pairs of words and pieces of words, not their
// meanings. "databases" is near "database", and "DB" is near neither. Each feature is hashed
// to a position and a sign in the vector (feature hashing: Weinberger et al., 2009; pieces
// of words as in fastText: Bojanowski et al., 2017) and weighted, and the vector is scaled
// to length 1. There is no vocabulary, no training and no preferred language: in scripts
// without spaces, pairs of characters count as words.
//
// The same text has the same vector on every machine and in every version, as a golden file
// proves. A change of the vectors needs a new name of the model.
package offline

import (
	"context"
	"fmt"
	"sync"

	"github.com/p8-org/p8/internal/embed"
)

// The possible lengths of vectors.
const (
	// Dimensions is the default length. Longer vectors have fewer accidental similarities
	// and need more space.
	Dimensions    = 384
	minDimensions = 64
	maxDimensions = 4096
)

// maxText is the part of a text that counts, in bytes. Chunks are far shorter.
const maxText = 64 << 10

// Options configure a Model; the zero value is the default model.
type Options struct {
	// Dimensions is the length of the vectors; 0 is 384.
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

// Name returns "offline:ngram-384", or the name with another length.
func (m *Model) Name() string { return m.name }

// String returns the name.
func (m *Model) String() string { return m.name }

// Dimensions returns the length of the vectors.
func (m *Model) Dimensions() int { return m.dimensions }

// MinSimilarity returns the similarity above which texts share a word or two rather than
// accidental features.
func (m *Model) MinSimilarity() float64 { return 0.1 }

// Embed returns a vector for each text, or ErrEmpty for a text without letters and digits.
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

// EmbedQuery returns the vector of a question, which is that of any text.
func (m *Model) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	r := m.Embed(ctx, []string{text})[0]
	return r.Vector, r.Err
}
