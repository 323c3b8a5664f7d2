package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/outbound"
)

// failure is the error of an attempt; retry: another attempt may succeed.
type failure struct {
	*embed.Error
	retry bool
}

func (m *Model) fail(kind outbound.Kind, err error, hint string) *failure {
	return &failure{&embed.Error{Kind: kind, Model: m.name, Hint: hint, Err: outbound.Cause(err)}, kind == outbound.Unavailable}
}

// broken returns the failure of a connection.
func (m *Model) broken(ctx context.Context, err error) *failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return m.fail(outbound.Timeout, ctx.Err(), "")
	}
	return m.fail(outbound.Unavailable, err, "check the network and the base URL of the embedding model")
}

// refused returns the failure of an error response. The provider's words decide the kind and
// are not shown.
func (m *Model) refused(status int, body []byte, retryAfter time.Duration) *failure {
	r := outbound.ReadRefusal(body)
	e := &embed.Error{Model: m.name, Status: status, RetryAfter: retryAfter, Kind: kindOf(status, r)}
	f := &failure{Error: e, retry: e.Kind.Temporary()}
	switch e.Kind {
	case outbound.Auth:
		e.Hint = "check the API key"
	case outbound.NotFound:
		e.Hint = "check the model's name and the base URL"
	case outbound.RateLimit:
		e.Hint = "it is tried again later"
		if status == http.StatusPaymentRequired || r.NoCredit() {
			e.Hint, f.retry = "the account has no credit left", false
		}
	case outbound.BadRequest:
		e.Hint = "check the model's name, and its dimensions if you set them"
	case outbound.BadResponse:
		e.Hint = "check the base URL, which usually ends in /v1"
	case outbound.Unavailable, outbound.Timeout:
		e.Hint = "it is tried again later"
	}
	return f
}

// tooLong are the words of servers whose status does not say that a text is too long.
var tooLong = []string{
	"context_length", "context length", "maximum context", "context window", "context size",
	"input length", "too long", "too many tokens", "max_tokens_per_request", "maximum sequence length", "physical batch size",
}

func kindOf(status int, r *outbound.Refusal) outbound.Kind {
	if status != http.StatusTooManyRequests {
		said := strings.ToLower(r.Code + " " + r.Type + " " + r.Message + " " + r.Detail)
		for _, words := range tooLong {
			if strings.Contains(said, words) {
				return outbound.TooLong
			}
		}
	}
	return r.Kind(status)
}
