// Package problem words what went wrong with a request.
//
// A [Problem] is an error fit for the client: a status, a stable code, a sentence,
// and the field that is wrong. [Write] sends it as OpenAI's error object where the
// clients are OpenAI's, and as a problem document (RFC 9457) everywhere else.
// [Describer] turns every other error into a Problem; it logs errors that nobody
// worded for a client, and names only the request's id to the client.
package problem

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/web"
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
	if isOpenAI(r.URL.Path) {
		header.Set("Content-Type", "application/json")
		body = append(stream.AppendError(nil, stream.APIError{
			Message: p.Message, Type: stream.ErrorType(p.Status), Code: p.Code, Param: p.Param,
		}), '\n')
	} else {
		header.Set("Content-Type", "application/problem+json")
		body = web.Encode(p)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// isOpenAI reports whether the clients of a path are OpenAI's.
func isOpenAI(path string) bool {
	_, path = web.CutPrefix(path)
	for _, p := range []string{"/chat/completions", "/models"} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
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
