package llm

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// ErrorKind is the kind of a provider's failure.
type ErrorKind string

// The kinds of failure.
const (
	// Auth: the key is missing or refused.
	Auth ErrorKind = "authentication_error"
	// RateLimit: too many requests or tokens.
	RateLimit ErrorKind = "rate_limit_exceeded"
	// NotFound: the provider has no such model.
	NotFound ErrorKind = "model_not_found"
	// BadRequest: the provider refused the request.
	BadRequest ErrorKind = "invalid_request"
	// ContextLength: the conversation is longer than the model's window.
	ContextLength ErrorKind = "context_length_exceeded"
	// Unavailable: overloaded, 5xx, no connection, or the stream was cut.
	Unavailable ErrorKind = "provider_unavailable"
	// Timeout: no answer in time.
	Timeout ErrorKind = "provider_timeout"
	// BadResponse: the answer violates the protocol.
	BadResponse ErrorKind = "bad_provider_response"
	// NoModel: no configured model can answer.
	NoModel ErrorKind = "no_model"
)

// Error is a provider's failure. Error() is fit for a client and a log: it
// holds neither the provider's words nor a key. [Said] has the words, for a log alone.
type Error struct {
	Kind ErrorKind
	// Model is "provider:model".
	Model string
	// Status is the provider's HTTP status, 0 if there was none.
	Status int
	// RetryAfter is the pause that the provider asked for, 0 if none.
	RetryAfter time.Duration
	// Hint says what to do about it.
	Hint string
	// Words are the provider's own, cut and without secrets, "" for none. They may quote
	// the request, so only an operator may read them.
	Words string
	// Err is the cause, for errors.Is; it is never printed.
	Err error
}

// Said returns what a provider said about a failure, as an attribute for an operator's log;
// the empty attribute, which logs leave out, if err is no refusal of a provider.
func Said(err error) slog.Attr {
	var e *Error
	if !errors.As(err, &e) || e.Words == "" {
		return slog.Attr{}
	}
	return slog.String("provider_said", e.Words)
}

// Error says what went wrong and what to do about it.
func (e *Error) Error() string {
	s := e.Kind.sentence(e.Model)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// ErrorType is the kind, for telemetry.
func (e *Error) ErrorType() string { return string(e.Kind) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (k ErrorKind) sentence(model string) string {
	switch k {
	case Auth:
		return "the model " + model + " refused the API key"
	case RateLimit:
		return "the model " + model + " is rate limited"
	case NotFound:
		return "there is no model " + model
	case BadRequest:
		return "the model " + model + " refused the request"
	case ContextLength:
		return "the conversation is too long for the model " + model
	case Timeout:
		return "the model " + model + " did not answer in time"
	case BadResponse:
		return "the model " + model + " sent an answer that cannot be read"
	case NoModel:
		return "no language model is configured"
	}
	return "the model " + model + " is unavailable"
}
