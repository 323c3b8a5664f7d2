// Package problem words what went wrong with a request.
//
// A [Problem] is an error fit for the client: a status, a stable code, a sentence,
// and the field that is wrong. [Write] sends it as OpenAI's error object below /v1 and
// on the paths of OpenAI's API, where a value that cannot be used is a 400 and not a
// 422; everywhere else it is a problem document (RFC 9457).
// [Describer] turns every other error into a Problem; it logs errors that nobody
// worded for a client, and names only the request's id to the client.
package problem

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/stream"
)

// Problem is a failed request as its client reads it.
type Problem struct {
	Status int
	// Code is the stable name of the problem.
	Code    string
	Message string
	// Param is the field of the body, the parameter or the header that is wrong, ""
	// for none.
	Param string
	// Column is the place in a query that is wrong, in characters from 1; 0 is
	// unknown.
	Column int
	// Details are the single mistakes in a document.
	Details []*huma.ErrorDetail
	// RetryAfter is sent as the header Retry-After, in whole seconds; 0 sends none.
	RetryAfter time.Duration
}

// Error returns the message.
func (p *Problem) Error() string { return p.Message }

// Invalid is a value that was read and cannot be used.
func Invalid(param, format string, args ...any) *Problem {
	return &Problem{
		Status: http.StatusUnprocessableEntity, Code: "invalid_value",
		Message: fmt.Sprintf(format, args...), Param: param,
	}
}

// BadJSON is a body that is not a JSON object.
func BadJSON(message string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "invalid_json", Message: message}
}

// UnsupportedMedia is a body of the wrong media type.
func UnsupportedMedia(message string) *Problem {
	return &Problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: message}
}

// TooLarge is a body over the limit, in bytes.
func TooLarge(limit int64) *Problem {
	return &Problem{
		Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
		Message: fmt.Sprintf("the body is longer than %d bytes; send less, or raise P8_MAX_BODY_BYTES", limit),
	}
}

// FileTooLarge is an uploaded file over the limit, in bytes.
func FileTooLarge(limit int64) *Problem {
	return &Problem{
		Status: http.StatusRequestEntityTooLarge, Code: "file_too_large",
		Message: fmt.Sprintf("the file is longer than %d bytes; send a smaller one, or raise P8_MAX_UPLOAD_BYTES", limit),
	}
}

// NoStore is the answer of a server without a database.
func NoStore() *Problem {
	return &Problem{
		Status: http.StatusNotImplemented, Code: "storage_disabled",
		Message: "this server stores nothing (P8_DATABASE_URL=none), so it has no sessions and no knowledge, and takes no documents",
	}
}

// Missing is the problem of a server that lacks a part.
func Missing(part string) *Problem {
	return &Problem{Status: http.StatusNotImplemented, Code: "not_available", Message: "this server has no " + part}
}

// Refused is a request without a token that counts.
func Refused(r *auth.Refused) *Problem {
	switch {
	case r.Forbidden:
		return &Problem{Status: http.StatusForbidden, Code: "forbidden", Message: r.Message}
	case r.After > 0:
		return &Problem{Status: http.StatusServiceUnavailable, Code: "authentication_unavailable", Message: r.Message, RetryAfter: r.After}
	case r.Bad:
		return &Problem{Status: http.StatusUnauthorized, Code: "invalid_token", Message: r.Message}
	}
	return &Problem{Status: http.StatusUnauthorized, Code: "token_required", Message: r.Message}
}

// Internal is a problem that the client can only report.
func Internal(ctx context.Context) *Problem {
	message := stream.MessageInternal
	if id := web.RequestID(ctx); id != "" {
		message += "; its log says what, under the request id " + id
	}
	return &Problem{Status: http.StatusInternalServerError, Code: event.CodeInternal, Message: message}
}

// RetrySoon is the pause before a retry where the cause usually passes by itself.
const RetrySoon = time.Second

// Write answers a request with a problem, in the form that the clients of its path
// read.
func Write(w http.ResponseWriter, r *http.Request, p *Problem) {
	header := w.Header()
	if p.RetryAfter > 0 {
		seconds := (p.RetryAfter + time.Second - 1) / time.Second
		header.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	header.Set("Cache-Control", "no-store")
	var body []byte
	status := p.Status
	switch {
	case isRPC(r):
		header.Set("Content-Type", "application/json")
		body = p.rpc()
	case isOpenAI(r):
		if status == http.StatusUnprocessableEntity {
			status = http.StatusBadRequest // OpenAI's status of a value that cannot be used
		}
		header.Set("Content-Type", "application/json")
		body = p.openAI(status)
	default:
		header.Set("Content-Type", "application/problem+json")
		body = web.Encode(p)
	}
	web.NoteProblem(w, p.Code)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// isRPC reports whether the client of a request reads JSON-RPC's errors.
func isRPC(r *http.Request) bool {
	path := web.Path(r.URL.Path)
	rest := strings.Contains(path, ":") || strings.Contains(path, "/tasks/") // A2A's other binding
	return r.Method == http.MethodPost && !rest && (path == "/mcp" || path == "/a2a" || strings.HasPrefix(path, "/a2a/"))
}

// codeRPC is a code of JSON-RPC that servers may give a meaning.
const codeRPC = -32000

// rpc returns JSON-RPC's error response. The request's id is not known.
func (p *Problem) rpc() []byte {
	type failure struct {
		Code    int               `json:"code"`
		Message string            `json:"message"`
		Data    map[string]string `json:"data"`
	}
	return web.Encode(struct {
		Version string  `json:"jsonrpc"`
		ID      any     `json:"id"`
		Error   failure `json:"error"`
	}{"2.0", nil, failure{codeRPC, p.Message, map[string]string{"code": p.Code}}})
}

// openAI returns OpenAI's error object. The place in a query and the mistakes in a document
// are fields more.
func (p *Problem) openAI(status int) []byte {
	kind := stream.ErrorType(status)
	if p.Code == "insufficient_quota" {
		kind = p.Code // as OpenAI has it
	}
	b := stream.AppendError(nil, stream.APIError{Message: p.Message, Type: kind, Code: p.Code, Param: p.Param})
	if p.Column > 0 || len(p.Details) > 0 {
		more := bytes.TrimSpace(web.Encode(struct {
			Column int                 `json:"column,omitempty"`
			Errors []*huma.ErrorDetail `json:"errors,omitempty"`
		}{p.Column, p.Details}))
		b = append(append(bytes.TrimSuffix(b, []byte("}}")), ','), more[1:]...)
		b = append(b, '}')
	}
	return append(b, '\n')
}

// openAIPaths are those of OpenAI's API, below every prefix.
var openAIPaths = [...]string{"/chat/completions", "/embeddings", "/models", "/responses"}

// isOpenAI reports whether the client of a request reads OpenAI's errors: its path is one
// of OpenAI's, or below /v1. The middleware cuts prefixes off r.URL, not off the address
// that the client sent.
func isOpenAI(r *http.Request) bool {
	path := r.URL.Path
	if sent, err := url.ParseRequestURI(r.RequestURI); err == nil {
		path = sent.Path
	}
	if _, rest, ok := web.CutShared(path); ok {
		path = rest
	}
	if path == "/v1" || strings.HasPrefix(path, "/v1/") {
		return true
	}
	_, path = web.CutPrefix(path)
	return slices.ContainsFunc(openAIPaths[:], func(p string) bool {
		rest, found := strings.CutPrefix(path, p)
		return found && (rest == "" || rest[0] == '/')
	})
}

// MarshalJSON writes the problem document.
func (p *Problem) MarshalJSON() ([]byte, error) {
	return bytes.TrimSpace(web.Encode(struct {
		huma.ErrorModel
		Code   string `json:"code"`
		Param  string `json:"param,omitempty"`
		Column int    `json:"column,omitempty"`
	}{huma.ErrorModel{
		Type: "about:blank", Title: http.StatusText(p.Status), Status: p.Status, Detail: p.Message, Errors: p.Details,
	}, p.Code, p.Param, p.Column})), nil
}
