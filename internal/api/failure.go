package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// failure is what a client is told about a request that did not work.
type failure struct {
	status int
	// code is a stable name.
	code    string
	message string
	// param is the field of the body or the header that is wrong, "" for none.
	param string
	// column is the place in a query that is wrong, in characters from 1; 0 is
	// unknown.
	column int
	// details are the single things that are wrong with a document.
	details []*huma.ErrorDetail
	// retryAfter is sent when it is not 0.
	retryAfter time.Duration
}

func (f *failure) Error() string { return f.message }

// invalid is a request that was understood and cannot be done.
func invalid(param, format string, args ...any) *failure {
	return &failure{
		status: http.StatusUnprocessableEntity, code: "invalid_value",
		message: fmt.Sprintf(format, args...), param: param,
	}
}

func tooLarge(limit int64) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, code: "body_too_large",
		message: fmt.Sprintf("the body is longer than %d bytes; send less, or raise P8_MAX_BODY_BYTES", limit),
	}
}

// internal is a failure that the client can only report.
func internal(ctx context.Context) *failure {
	message := stream.MessageInternal
	if id := requestID(ctx); id != "" {
		message += "; its log says what, under the request id " + id
	}
	return &failure{status: http.StatusInternalServerError, code: event.CodeInternal, message: message}
}

// describe is any error as a client may read it. What nobody worded for a
// client is logged under the request's id.
func (h *Handler) describe(ctx context.Context, err error) *failure {
	d := chat.Describe(err)
	if d.HTTPStatus == http.StatusInternalServerError || errors.Is(err, store.ErrUnavailable) {
		h.o.Logger.ErrorContext(ctx, "request failed", "error", cause(err), "request_id", requestID(ctx))
	}
	f := failed(ctx, d)
	if missing := new(catalog.NotFoundError); errors.As(err, &missing) && len(missing.Near) == 0 {
		f.message += "; GET /v1/models lists those there are"
	}
	return f
}

// failed is what ended a run, before the first byte of its response.
func failed(ctx context.Context, d *event.ErrorData) *failure {
	if d.HTTPStatus < 400 || d.Code == event.CodeInternal {
		return internal(ctx)
	}
	f := &failure{status: d.HTTPStatus, code: d.Code, message: d.Message}
	f.param, _ = d.Details["field"].(string)
	if seconds, ok := d.Details["retry_after_seconds"].(float64); ok {
		f.retryAfter = time.Duration(seconds * float64(time.Second))
	} else if d.HTTPStatus == http.StatusServiceUnavailable && d.Recoverable {
		f.retryAfter = retrySoon
	}
	return f
}

// retrySoon is for what usually passes by itself.
const retrySoon = time.Second

// fail answers in the form that the route's clients read.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, f *failure) {
	header := w.Header()
	maps.Copy(header, f.GetHeaders())
	header.Set("Cache-Control", "no-store")
	var body []byte
	if isOpenAI(r.URL.Path) {
		header.Set("Content-Type", "application/json")
		body = append(stream.AppendError(nil, stream.APIError{
			Message: f.message, Type: stream.ErrorType(f.status), Code: f.code, Param: f.param,
		}), '\n')
	} else {
		header.Set("Content-Type", "application/problem+json")
		body = encode(f)
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(body)
}

// isOpenAI reports whether the clients of a path are OpenAI's.
func isOpenAI(path string) bool {
	for _, p := range prefixes {
		path = strings.TrimPrefix(path, p)
	}
	for _, p := range []string{"/chat/completions", "/models"} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// GetStatus, ContentType and MarshalJSON make a failure what a REST operation
// returns: a problem document (RFC 9457) with its code.
func (f *failure) GetStatus() int { return f.status }

// GetHeaders are the headers of the answer besides its type.
func (f *failure) GetHeaders() http.Header {
	header := http.Header{}
	if f.retryAfter > 0 {
		seconds := (f.retryAfter + time.Second - 1) / time.Second
		header.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	return header
}

// ContentType is that of a problem document.
func (f *failure) ContentType(string) string { return "application/problem+json" }

// MarshalJSON writes the problem document.
func (f *failure) MarshalJSON() ([]byte, error) {
	return bytes.TrimSpace(encode(struct {
		huma.ErrorModel
		Code   string `json:"code"`
		Param  string `json:"param,omitempty"`
		Column int    `json:"column,omitempty"`
	}{huma.ErrorModel{
		Type: "about:blank", Title: http.StatusText(f.status), Status: f.status, Detail: f.message, Errors: f.details,
	}, f.code, f.param, f.column})), nil
}

// encode is v as JSON with a newline; what is encoded here always can be.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return b.Bytes()
}

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v))
}

// unknown answers what no route takes: 405 with the methods that there are, or
// 404 with what the path might have been.
func (h *Handler) unknown(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		h.index(w, r)
		return
	}
	if methods := h.methods(r); len(methods) > 0 {
		allow := strings.Join(methods, ", ")
		w.Header().Set("Allow", allow)
		h.fail(w, r, &failure{
			status: http.StatusMethodNotAllowed, code: "method_not_allowed",
			message: "this path takes " + allow + ", not " + cut(r.Method),
		})
		return
	}
	h.fail(w, r, &failure{
		status: http.StatusNotFound, code: "unknown_url",
		message: "there is nothing at this path; chat is at POST /v1/chat/completions, and GET /openapi.json lists the rest",
	})
}

// methods are those that the request's path takes.
func (h *Handler) methods(r *http.Request) []string {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := *r
		probe.Method = m
		if _, pattern := h.mux.Handler(&probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, m)
		}
	}
	return allowed
}

// cut shortens what a client wrote, to say it back.
func cut(s string) string {
	const limit = 64
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
