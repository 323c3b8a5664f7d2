// Package embed puts every embedding model behind one interface: texts in,
// vectors out, near in meaning (or in words) where the vectors are near.
//
// A [Model] is named "provider:model", as in "openai:text-embedding-3-small" or
// "offline:ngram-384". The name goes into the database with each vector, and
// vectors of different names are never compared; hence a model that was asked
// for another length than its own has it in its name.
//
// The rooms: models makes a model from its name; openai is every server that
// speaks OpenAI's wire; offline is a lexical model of our own that needs
// nothing; worker embeds what the store has queued, as a background job.
//
// A failure belongs to one text wherever possible: a batch with one text that
// is refused yields the vectors of all others. It is an [*Error].
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Model is one embedding model. It is safe for concurrent use.
type Model interface {
	// Name is "provider:model".
	Name() string
	// Dimensions is the length of the vectors; 0 until the first answer, if only
	// the server knows.
	Dimensions() int
	// MinSimilarity is the least cosine similarity at which two texts have, in
	// this model, something to do with each other. It differs widely between
	// models, so it belongs to them and not to a query.
	MinSimilarity() float64
	// Embed makes a vector of each text, or an error, in the order of the texts.
	// Texts that are longer than the model can take are cut.
	Embed(ctx context.Context, texts []string) []Result
	// EmbedQuery makes the vector of a question; some models treat it differently
	// from what is searched.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Result is what became of one text: a vector of length 1 (L2), or an error.
type Result struct {
	Vector []float32
	Err    error
}

// ErrEmpty says that there is nothing to embed.
var ErrEmpty = errors.New("the text has no words")

// Kind says what went wrong with a provider; the names are those of llm.
type Kind string

// The kinds of failure.
const (
	// Auth: the key is missing or refused.
	Auth Kind = "authentication_error"
	// RateLimit: too many requests or tokens.
	RateLimit Kind = "rate_limit_exceeded"
	// NotFound: the provider has no such model.
	NotFound Kind = "model_not_found"
	// BadRequest: the provider refused the text, or the request.
	BadRequest Kind = "invalid_request"
	// TooLong: the text is longer than the model's window.
	TooLong Kind = "context_length_exceeded"
	// Unavailable: overloaded, 5xx, no connection.
	Unavailable Kind = "provider_unavailable"
	// Timeout: no answer in time.
	Timeout Kind = "provider_timeout"
	// BadResponse: an answer that is not of the protocol, or no usable vector.
	BadResponse Kind = "bad_provider_response"
	// NoModel: the name or the settings make no model.
	NoModel Kind = "no_model"
)

// Error is a provider's failure. Error() is fit for a client and a log: it
// holds neither the provider's words nor a key.
type Error struct {
	Kind Kind
	// Model is "provider:model".
	Model string
	// Status is the provider's HTTP status, 0 if there was none.
	Status int
	// RetryAfter is what the provider asked for, 0 if nothing.
	RetryAfter time.Duration
	// OneText: only this text failed, the model itself works.
	OneText bool
	// Hint says what to do about it.
	Hint string
	// Err is the cause, for errors.Is; it is never printed.
	Err error
}

// Error says what went wrong and what to do about it.
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

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) sentence() string {
	model := "the embedding model " + e.Model
	switch e.Kind {
	case Auth:
		return model + " refused the API key"
	case RateLimit:
		return model + " is rate limited"
	case NotFound:
		return "there is no embedding model " + e.Model
	case BadRequest:
		if e.OneText {
			return model + " refused the text"
		}
		return model + " refused the request"
	case TooLong:
		return "the text is too long for " + model
	case Timeout:
		return model + " did not answer in time"
	case BadResponse:
		return model + " sent an answer that cannot be used"
	case NoModel:
		return model + " cannot be used"
	}
	return model + " is unavailable"
}

// Normalise scales a vector to length 1 in place. It reports false, and leaves
// the vector as it is, when that cannot be done: an element is no number or
// infinite, or all are zero.
func Normalise(v []float32) bool {
	var sum float64
	for _, x := range v {
		// The conversion rounds, so that no machine fuses product and sum.
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
