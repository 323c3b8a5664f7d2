package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"p8/llm"
)

// failure is why an attempt failed and whether another may do better.
type failure struct {
	*llm.Error
	retry bool
}

// error is what the caller gets: its own cancellation is no provider's fault.
func (f *failure) error(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return f.Error
	case errors.Is(err, context.DeadlineExceeded):
		return &llm.Error{Kind: llm.Timeout, Model: f.Model, Err: err}
	default:
		return err
	}
}

// errSilent is the cause of a context that the idle timeout cancelled.
var errSilent = errors.New("openai: the provider was silent for too long")

// fail makes a failure without a status.
func (m *Model) fail(kind llm.ErrorKind, err error, hint string) *failure {
	// A url.Error prints the address, which may hold a password.
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return &failure{&llm.Error{Kind: kind, Model: m.name, Hint: hint, Err: err}, kind == llm.Unavailable}
}

// broken is a connection that was not made, or not kept.
func (m *Model) broken(ctx context.Context, err error) *failure {
	if context.Cause(ctx) == errSilent {
		return m.fail(llm.Timeout, errSilent, "")
	}
	hint := "check the network" + either(" and ", m.provider.BaseURLVars)
	if m.provider.Name == "ollama" {
		hint = "check that Ollama runs (ollama serve) and OLLAMA_HOST"
	}
	return m.fail(llm.Unavailable, err, hint)
}

func (m *Model) cut() *failure {
	return m.fail(llm.Unavailable, io.ErrUnexpectedEOF, "the answer was cut off; ask again")
}

// garbage is an answer that is not of the protocol. If it is so from the start,
// it is somebody else who answers.
func (m *Model) garbage(err error, started bool) *failure {
	if started {
		return m.fail(llm.BadResponse, err, "ask again")
	}
	return m.fail(llm.BadResponse, err, "check the base URL, which usually ends in /v1"+either("; it is in ", m.provider.BaseURLVars))
}

// refusal is how a provider says no, in its many forms.
type refusal struct {
	Message string
	Type    string
	Code    string
	Status  int // when the code is a number
}

// readRefusal understands {"error":{"message","type","code"}}, {"error":"…"},
// {"object":"error","message",…} and a list of one of these. Anything else is
// an empty refusal.
func readRefusal(body []byte) refusal {
	var r refusal
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		body = outer.Error
		if json.Unmarshal(body, &r.Message) == nil {
			return r
		}
	}
	var inner struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	// A field of an odd type must not hide the others, so the error is ignored.
	_ = json.Unmarshal(body, &inner)
	r.Message, r.Type = inner.Message, inner.Type
	if json.Unmarshal(inner.Code, &r.Code) != nil {
		_ = json.Unmarshal(inner.Code, &r.Status)
	}
	if n, err := strconv.Atoi(r.Code); err == nil {
		r.Status = n
	}
	return r
}

// refused turns a status, 0 within a stream, and the provider's words into a
// failure. The words decide about the kind and go no further.
func (m *Model) refused(status int, r refusal, retryAfter time.Duration) *failure {
	// In a stream the status was fine long ago; the code may hold another.
	if status == 0 && r.Status >= 400 && r.Status < 600 {
		status = r.Status
	}
	e := &llm.Error{Model: m.name, Status: status, RetryAfter: retryAfter}
	if e.Kind = kindOf(status, r); e.Kind == llm.NotFound && status == 0 {
		e.Status = http.StatusNotFound // the provider was asked: it is not a name that nobody knows
	}
	f := &failure{Error: e, retry: e.Kind == llm.Unavailable || e.Kind == llm.RateLimit || e.Kind == llm.Timeout}
	keys := m.provider.KeyVars
	switch e.Kind {
	case llm.Auth:
		e.Hint = "check the API key" + either(" in ", keys)
	case llm.NotFound:
		e.Hint = "check the model's name" + either(" and ", m.provider.BaseURLVars)
		if m.provider.Name == "ollama" {
			e.Hint = "get it with: ollama pull " + m.model
		}
	case llm.RateLimit:
		e.Hint = "wait a moment and ask again"
		if status == http.StatusPaymentRequired || r.Code == "insufficient_quota" || r.Type == "insufficient_quota" {
			e.Hint, f.retry = "the account has no credit left", false
		}
	case llm.ContextLength:
		e.Hint = "start a new session or take a model with a larger window"
	case llm.BadRequest:
		e.Hint = "the model may lack something that was asked of it, such as tools, a JSON schema or a setting"
	case llm.BadResponse:
		e.Hint = m.garbage(nil, false).Hint
	case llm.Unavailable, llm.Timeout:
		e.Hint = "wait a moment and ask again"
	}
	return f
}

// kindOf decides by the code first, as it is the more exact of the two.
func kindOf(status int, r refusal) llm.ErrorKind {
	names := r.Code + " " + r.Type
	has := func(s string) bool { return strings.Contains(names, s) }
	switch {
	case has("context_length") || has("context_size") || status < 500 && tooLong(r.Message):
		return llm.ContextLength
	case has("insufficient_quota") || has("rate_limit"):
		return llm.RateLimit
	case has("invalid_api_key") || has("authentication_error") || has("permission_error"):
		return llm.Auth
	case has("model_not_found"):
		return llm.NotFound
	}
	switch status {
	case 0:
		if has("invalid_request") || has("BadRequest") {
			return llm.BadRequest
		}
		return llm.Unavailable
	case http.StatusUnauthorized, http.StatusForbidden:
		return llm.Auth
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return llm.RateLimit
	case http.StatusNotFound:
		return llm.NotFound
	case http.StatusRequestTimeout:
		return llm.Timeout
	case http.StatusConflict, http.StatusTooEarly:
		return llm.Unavailable
	case http.StatusRequestEntityTooLarge:
		return llm.ContextLength
	case http.StatusMethodNotAllowed:
		return llm.BadResponse
	}
	switch {
	case status >= 500:
		return llm.Unavailable
	case status >= 400:
		return llm.BadRequest
	}
	return llm.BadResponse
}

// tooLong recognises the servers that have no code for it.
func tooLong(message string) bool {
	message = strings.ToLower(message)
	for _, s := range [...]string{"context length", "context window", "context size", "prompt is too long"} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}
