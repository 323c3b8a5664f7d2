package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/embed"
)

// failure is why an attempt failed and whether another may do better.
type failure struct {
	*embed.Error
	retry bool
}

func (m *Model) fail(kind embed.Kind, err error, hint string) *failure {
	// A url.Error prints the address, which may hold a password.
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return &failure{&embed.Error{Kind: kind, Model: m.name, Hint: hint, Err: err}, kind == embed.Unavailable}
}

// broken is a connection that was not made, or not kept.
func (m *Model) broken(ctx context.Context, err error) *failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return m.fail(embed.Timeout, ctx.Err(), "")
	}
	return m.fail(embed.Unavailable, err, "check the network and the base URL of the embedding model")
}

// refused turns a status and the provider's words into a failure. The words
// decide about the kind and go no further.
func (m *Model) refused(status int, body []byte, retryAfter time.Duration) *failure {
	words := strings.ToLower(refusal(body))
	e := &embed.Error{Model: m.name, Status: status, RetryAfter: retryAfter, Kind: kindOf(status, words)}
	f := &failure{Error: e}
	switch e.Kind {
	case embed.Auth:
		e.Hint = "check the API key"
	case embed.NotFound:
		e.Hint = "check the model's name and the base URL"
	case embed.RateLimit:
		e.Hint, f.retry = "it is tried again later", true
		if status == http.StatusPaymentRequired || strings.Contains(words, "insufficient_quota") {
			e.Hint, f.retry = "the account has no credit left", false
		}
	case embed.BadRequest:
		e.Hint = "check the model's name, and its dimensions if you set them"
	case embed.BadResponse:
		e.Hint = "check the base URL, which usually ends in /v1"
	case embed.Unavailable, embed.Timeout:
		e.Hint, f.retry = "it is tried again later", true
	}
	return f
}

// refusal is the code, type and message of {"error":{…}}, {"error":"…"},
// {"message":…} or {"detail":…}; "" of anything else.
func refusal(body []byte) string {
	type words struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
	}
	var outer struct {
		words
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	// A field of an odd type must not hide the others, so errors are ignored.
	_ = json.Unmarshal(body, &outer)
	w := outer.words
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &w.Message) != nil {
		_ = json.Unmarshal(outer.Error, &w)
	}
	code, _ := w.Code.(string)
	return code + " " + w.Type + " " + w.Message + " " + string(outer.Detail)
}

// tooLong are the words of servers whose status says less.
var tooLong = []string{
	"context_length", "context length", "maximum context", "context window", "context size",
	"input length", "too long", "too many tokens", "max_tokens_per_request", "maximum sequence length", "physical batch size",
}

func kindOf(status int, words string) embed.Kind {
	has := func(s string) bool { return strings.Contains(words, s) }
	for _, s := range tooLong {
		if has(s) && status != http.StatusTooManyRequests {
			return embed.TooLong
		}
	}
	switch {
	case has("insufficient_quota") || has("rate_limit"):
		return embed.RateLimit
	case has("invalid_api_key") || has("authentication_error"):
		return embed.Auth
	case has("model_not_found"):
		return embed.NotFound
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return embed.Auth
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return embed.RateLimit
	case http.StatusNotFound:
		return embed.NotFound
	case http.StatusRequestTimeout:
		return embed.Timeout
	case http.StatusConflict, http.StatusTooEarly:
		return embed.Unavailable
	case http.StatusRequestEntityTooLarge:
		return embed.TooLong
	case http.StatusMethodNotAllowed:
		return embed.BadResponse
	}
	switch {
	case status >= 500:
		return embed.Unavailable
	case status >= 400:
		return embed.BadRequest
	}
	return embed.BadResponse
}
