// Package body reads the bodies of requests.
//
// JSON bodies are read here and not by huma. huma reports broken JSON without its line
// and column, and echoes the whole body; it reports a wrong field by a path in the
// schema, where p8's clients get the field's name and place.
package body

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// Limits bound the bodies of requests, in bytes.
type Limits struct {
	// JSON bounds every body that is not an upload.
	JSON int64
	// Upload bounds the file of an upload.
	Upload int64
}

// UploadPath takes uploads, whose bodies may be larger than others.
const UploadPath = "/content"

// uploadFields is the room for the fields beside an uploaded file.
const uploadFields = 64 << 10

// For returns the limit of a path's bodies, and the problem of a longer one.
func (l Limits) For(path string) (int64, *problem.Problem) {
	if web.Path(path) == UploadPath {
		return l.Upload + uploadFields, problem.FileTooLarge(l.Upload)
	}
	return l.JSON, problem.TooLarge(l.JSON)
}

// Reader reads bodies that the middleware has limited and timed.
type Reader struct {
	Limits Limits
	Logger *slog.Logger
}

// timeout is how long a client may take to send a body that is not an upload.
const timeout = 30 * time.Second

// Timed gives the client of a request a while to send the body, also after the route has
// answered: the server then reads the rest. When the body has been read, the connection
// has no deadline any more, as reading on shows when the client leaves.
func Timed(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	within(w, timeout)
	return &timed{body, w}
}

type timed struct {
	io.ReadCloser
	w http.ResponseWriter
}

func (t *timed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		setDeadline(t.w, time.Time{})
	}
	return n, err
}

// within sets the deadline for the body to d from now.
func within(w http.ResponseWriter, d time.Duration) { setDeadline(w, time.Now().Add(d)) }

// setDeadline sets the deadline for reads of the connection. It fails only on a connection
// that has no deadlines.
func setDeadline(w http.ResponseWriter, at time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// Bytes reads the whole body, which must be UTF-8.
func (b Reader) Bytes(w http.ResponseWriter, r *http.Request) ([]byte, *problem.Problem) {
	var text bytes.Buffer
	if r.ContentLength > 0 {
		text.Grow(int(min(r.ContentLength, b.Limits.JSON)) + bytes.MinRead)
	}
	if _, err := text.ReadFrom(r.Body); err != nil {
		return nil, b.Unreadable(r.Context(), err)
	}
	return text.Bytes(), encoded(text.Bytes())
}

// JSON reads a JSON object into v, a pointer to a struct, and refuses fields that it does not
// have, as the description says. Bodies of other people's protocols are read with Bytes and
// Decode, which ignore them.
func (b Reader) JSON(w http.ResponseWriter, r *http.Request, v any) *problem.Problem {
	text, p := b.Bytes(w, r)
	if p != nil {
		return p
	}
	return strict(text, v)
}

// Optional is JSON for a body that may be empty.
func (b Reader) Optional(w http.ResponseWriter, r *http.Request, v any) *problem.Problem {
	text, p := b.Bytes(w, r)
	if p != nil || len(bytes.TrimSpace(text)) == 0 {
		return p
	}
	return strict(text, v)
}

// strict is Decode without unknown fields.
func strict(text []byte, v any) *problem.Problem {
	if p := Decode(text, v); p != nil {
		return p
	}
	return unknown(text, v)
}

// codeUnreadable is the code of a body that failed for a reason unknown here.
const codeUnreadable = "unreadable_body"

// Unreadable is the problem of a body that could not be read to its end.
func (b Reader) Unreadable(ctx context.Context, err error) *problem.Problem {
	switch {
	case IsTooLarge(err):
		return problem.TooLarge(b.Limits.JSON)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &problem.Problem{Status: http.StatusRequestTimeout, Code: "body_timeout", Message: "the body took too long to arrive"}
	case errors.Is(err, io.ErrUnexpectedEOF), ctx.Err() != nil:
		return &problem.Problem{Status: http.StatusBadRequest, Code: "incomplete_body", Message: "the body ended before it was whole"}
	}
	b.Logger.WarnContext(ctx, "read body", "error", err, "request_id", web.RequestID(ctx))
	return &problem.Problem{Status: http.StatusBadRequest, Code: codeUnreadable, Message: "the body could not be read"}
}

// IsTooLarge reports whether a body was cut at its limit.
func IsTooLarge(err error) bool {
	return errors.As(err, new(*http.MaxBytesError))
}
