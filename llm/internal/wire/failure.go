package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
)

// failure is the reason why an attempt failed, and whether to retry. refusal is the
// provider's, nil if it sent none.
type failure struct {
	*llm.Error
	retry   bool
	refusal *outbound.Refusal
}

// error returns the caller's error: the context's if the caller cancelled.
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
var errSilent = errors.New("wire: the provider was silent for too long")

// ErrCut reports that an answer ended too early.
var ErrCut = errors.New("wire: the answer was cut off")

// fail makes a failure without a status.
func (c *Client) fail(kind llm.ErrorKind, err error, hint string) *failure {
	return &failure{Error: &llm.Error{Kind: kind, Model: c.o.Name, Hint: hint, Err: outbound.Cause(err)}, retry: kind == llm.Unavailable}
}

// broken returns the failure to connect, or of a lost connection.
func (c *Client) broken(ctx context.Context, err error) *failure {
	if context.Cause(ctx) == errSilent {
		hint := fmt.Sprintf("it said nothing for %s", c.o.IdleTimeout)
		if c.o.SilenceVar != "" {
			hint += "; " + c.o.SilenceVar + " sets how long p8 waits"
		}
		return c.fail(llm.Timeout, errSilent, hint)
	}
	return c.fail(llm.Unavailable, err, c.hint(llm.Unavailable, "check the network"+Either(" and ", c.o.BaseURLVars)))
}

func (c *Client) cut() *failure {
	return c.fail(llm.Unavailable, io.ErrUnexpectedEOF, "the answer was cut off; ask again")
}

// garbage returns the failure of an answer that violates the protocol. If it does from
// the start, the server is not a model provider.
func (c *Client) garbage(err error, started bool) *failure {
	if started {
		return c.fail(llm.BadResponse, err, "ask again")
	}
	return c.fail(llm.BadResponse, err, c.hint(llm.BadResponse, "check the base URL"+Either("; it is in ", c.o.BaseURLVars)))
}

// hint returns the provider's own hint for a kind, else the common one.
func (c *Client) hint(kind llm.ErrorKind, usual string) string {
	if h := c.o.Hints[kind]; h != "" {
		return h
	}
	return usual
}

// refused turns a status, 0 within a stream, and the provider's words into a
// failure. The words decide about the kind; an operator may read them.
func (c *Client) refused(status int, r *outbound.Refusal, retryAfter time.Duration) *failure {
	// In a stream the HTTP status was 200; the code may hold the real one.
	if status == 0 && r.Status >= 400 && r.Status < 600 {
		status = r.Status
	}
	e := &llm.Error{Model: c.o.Name, Status: status, RetryAfter: cmp.Or(retryAfter, r.RetryAfter), Words: r.Words(c.secrets()...)}
	c.debugRefusal(e)
	if e.Kind = kindOf(status, r); e.Kind == llm.NotFound && status == 0 {
		e.Status = http.StatusNotFound // as the provider would answer, unlike an unknown provider
	}
	f := &failure{Error: e, refusal: r, retry: outbound.Kind(e.Kind).Temporary()}
	switch e.Kind {
	case llm.Auth:
		e.Hint = "check the API key" + Either(" in ", c.o.KeyVars)
	case llm.NotFound:
		e.Hint = c.hint(llm.NotFound, "check the model's name"+Either(" and ", c.o.BaseURLVars))
	case llm.RateLimit:
		e.Hint = "wait a moment and ask again"
		if status == http.StatusPaymentRequired || r.NoCredit() {
			e.Hint, f.retry = "the account has no credit left", false
		}
	case llm.ContextLength:
		e.Hint = "start a new session or take a model with a larger window"
	case llm.BadRequest:
		e.Hint = "the model may lack something that was asked of it, such as tools, a JSON schema or a setting"
	case llm.BadResponse:
		e.Hint = c.garbage(nil, false).Hint
	case llm.Unavailable, llm.Timeout:
		e.Hint = "wait a moment and ask again"
	}
	return f
}

// secrets returns the values of the headers that authorise requests.
func (c *Client) secrets() []string {
	if c.o.Authorize == nil {
		return nil
	}
	h := http.Header{}
	c.o.Authorize(h)
	var all []string
	for _, values := range h {
		for _, v := range values {
			_, token, _ := strings.Cut(v, " ") // of "Bearer token"
			all = append(all, v, token)
		}
	}
	return all
}

// debugRefusal shows a refusal in a line below the request.
func (c *Client) debugRefusal(e *llm.Error) {
	if c.o.Debug == nil || e.Words == "" {
		return
	}
	line, err := json.Marshal(struct {
		Status int    `json:"refused"`
		Words  string `json:"provider_said"`
	}{e.Status, e.Words})
	if err == nil {
		c.o.Debug(line)
	}
}

// kindOf returns the kind of a refusal. Many servers have no code for a conversation that is
// too long, so their words decide.
func kindOf(status int, r *outbound.Refusal) llm.ErrorKind {
	names := r.Code + " " + r.Type + " " + r.Reasons
	for _, name := range [...]string{"context_length", "context_size", "request_too_large"} {
		if strings.Contains(names, name) {
			return llm.ContextLength
		}
	}
	if status < http.StatusInternalServerError && tooLong(r.Message) {
		return llm.ContextLength
	}
	return llm.ErrorKind(r.Kind(status))
}

// tooLong recognises the servers that have no code for it.
func tooLong(message string) bool {
	message = strings.ToLower(message)
	for _, s := range [...]string{"context length", "context window", "context size", "prompt is too long", "exceed context limit", "input token count"} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// Either returns text + "A or B" of the first two names, "" without names.
func Either(text string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return text + strings.Join(names[:min(2, len(names))], " or ")
}
