package outbound

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Kind says what went wrong with a provider. Package llm has kinds of the same names.
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
	// BadResponse: a response outside of the protocol, or without what was requested.
	BadResponse Kind = "bad_provider_response"
)

// Temporary reports whether the same request may succeed later.
func (k Kind) Temporary() bool { return k == Unavailable || k == RateLimit || k == Timeout }

// Kind is what the refusal means; status is that of the response, 0 within a stream.
// The provider's names come first, as they are more exact than the status.
func (r *Refusal) Kind(status int) Kind {
	names := r.Code + " " + r.Type + " " + r.Reasons
	has := func(s string) bool { return strings.Contains(names, s) }
	switch {
	case r.NoCredit() || has("rate_limit") || has("RESOURCE_EXHAUSTED"):
		return RateLimit
	case has("invalid_api_key") || has("authentication_error") || has("permission_error") ||
		has("UNAUTHENTICATED") || has("PERMISSION_DENIED") || has("API_KEY_INVALID"):
		return Auth
	case has("model_not_found") || has("not_found_error") || has("NOT_FOUND"):
		return NotFound
	case status == 0 && (has("invalid_request") || has("BadRequest") || has("INVALID_ARGUMENT")):
		return BadRequest
	case status == 0:
		return Unavailable
	}
	return kindOf(status)
}

// NoCredit reports whether the account has no credit left; Anthropic calls that a bad
// request.
func (r *Refusal) NoCredit() bool {
	return r.Code == "insufficient_quota" || r.Type == "insufficient_quota" || r.Type == "billing_error" ||
		strings.Contains(r.Message, "credit balance is too low")
}

func kindOf(status int) Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Auth
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return RateLimit
	case http.StatusNotFound:
		return NotFound
	case http.StatusRequestTimeout:
		return Timeout
	case http.StatusConflict, http.StatusTooEarly:
		return Unavailable
	case http.StatusRequestEntityTooLarge:
		return TooLong
	case http.StatusMethodNotAllowed:
		return BadResponse
	}
	switch {
	case status >= 500:
		return Unavailable
	case status >= 400:
		return BadRequest
	}
	return BadResponse
}

// Cause is the error below a [url.Error], which would print the address: it may hold a
// password.
func Cause(err error) error {
	if ue := new(url.Error); errors.As(err, &ue) {
		return ue.Err
	}
	return err
}
