// Package embed has one interface for all embedding models. A [Model] turns texts into
// vectors, which are near if the texts have similar meanings (or words).
//
// A model is named "provider:model", as in "openai:text-embedding-3-small" or
// "offline:ngram-384". The database stores the name with each vector, and vectors of
// different names are never compared. So a non-default length is part of the name.
//
// Package models makes a model from its name; openai is the client of servers with OpenAI's
// API; offline is a lexical model without a server; worker embeds queued texts in a
// background job.
//
// An error, an [*Error], belongs to one text if possible: if one text of a batch is refused,
// the others get their vectors.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

// Model is one embedding model. It is safe for concurrent use.
type Model interface {
	// Name is "provider:model".
	Name() string
	// Dimensions is the length of the vectors; 0 until the first answer, if only
	// the server knows.
	Dimensions() int
	// MinSimilarity is the minimum cosine similarity of related texts. It depends on the
	// model, so it is not a constant of queries.
	MinSimilarity() float64
	// Embed returns a vector or an error for each text, in order. It cuts texts that are
	// too long for the model.
	Embed(ctx context.Context, texts []string) []Result
	// EmbedQuery returns the vector of a question, which some models treat differently from
	// documents.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Result is the result of one text: a vector of length 1 (L2), or an error.
type Result struct {
	Vector []float32
	Err    error
}

// ErrEmpty is the error of a text without words.
var ErrEmpty = errors.New("the text has no words")

// NoModel is the kind of an error about the name of a model or its settings; package outbound
// has the others.
const NoModel outbound.Kind = "no_model"

// Error is a provider's failure. Its text has neither the provider's words nor a key, so it
// may be shown and logged.
type Error struct {
	Kind outbound.Kind
	// Model is "provider:model".
	Model string
	// Status is the provider's HTTP status, 0 if there was none.
	Status int
	// RetryAfter is what the provider asked for, 0 if nothing.
	RetryAfter time.Duration
	// OneText: only this text failed; the model works.
	OneText bool
	// Hint says what to do about it.
	Hint string
	// Err is the cause, for errors.Is. It is not printed.
	Err error
}

// Error returns what failed and what to do about it.
func (e *Error) Error() string {
	s := e.sentence()
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) sentence() string {
	model := "the embedding model " + e.Model
	switch e.Kind {
	case outbound.Auth:
		return model + " refused the API key"
	case outbound.RateLimit:
		return model + " is rate limited"
	case outbound.NotFound:
		return "there is no embedding model " + e.Model
	case outbound.BadRequest:
		if e.OneText {
			return model + " refused the text"
		}
		return model + " refused the request"
	case outbound.TooLong:
		return "the text is too long for " + model
	case outbound.Timeout:
		return model + " did not answer in time"
	case outbound.BadResponse:
		return model + " sent an answer that cannot be used"
	case NoModel:
		return model + " cannot be used"
	}
	return model + " is unavailable"
}

// Normalise scales a vector to length 1 in place. It returns false and does not change the
// vector if an element is NaN or infinite, or all are zero.
func Normalise(v []float32) bool {
	var sum float64
	for _, x := range v {
		// The conversion rounds, which prevents a fused multiply-add.
		sum += float64(float64(x) * float64(x))
	}
	if !(sum > 0) || math.IsInf(sum, 0) { // also when it is NaN
		return false
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return true
}
