package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/ask"
)

// mediaType is the media type of the body, "" when the client did not say.
func mediaType(r *http.Request) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "", nil
	}
	t, _, err := mime.ParseMediaType(header)
	return t, err
}

// bodyTimeout is how long a client may take to send its body.
const bodyTimeout = 30 * time.Second

// readBody reads the whole body.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *failure) {
	ctl := http.NewResponseController(w)
	// A connection without deadlines has none to set.
	_ = ctl.SetReadDeadline(time.Now().Add(bodyTimeout))
	// The connection goes on being read, to see when the client leaves.
	defer func() { _ = ctl.SetReadDeadline(time.Time{}) }()
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, h.o.MaxBody)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, h.unreadable(r.Context(), err)
	}
	return b.Bytes(), nil
}

func (h *Handler) unreadable(ctx context.Context, err error) *failure {
	switch {
	case isTooLarge(err):
		return tooLarge(h.o.MaxBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{status: http.StatusRequestTimeout, code: "body_timeout", message: "the body took too long to arrive"}
	case errors.Is(err, io.ErrUnexpectedEOF), ctx.Err() != nil:
		return &failure{status: http.StatusBadRequest, code: "incomplete_body", message: "the body ended before it was whole"}
	}
	h.o.Logger.WarnContext(ctx, "read body", "error", err, "request_id", requestID(ctx))
	return &failure{status: http.StatusBadRequest, code: "unreadable_body", message: "the body could not be read"}
}

// readJSON reads a JSON object into v. Fields that v does not have are ignored.
func (h *Handler) readJSON(w http.ResponseWriter, r *http.Request, v any) *failure {
	body, f := h.readBody(w, r)
	if f != nil {
		return f
	}
	return decode(body, v)
}

// decode parses a JSON object and says where it is wrong.
func decode(body []byte, v any) *failure {
	err := json.Unmarshal(body, v)
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil && !isObject(body):
		return badJSON("the body must be a JSON object")
	case err == nil:
		return nil
	case len(bytes.TrimSpace(body)) == 0:
		example := `{"messages":[{"role":"user","content":"hello"}]}`
		if e, ok := v.(interface{ example() string }); ok {
			example = e.example()
		}
		return badJSON("the body is empty; send a JSON object such as " + example)
	case errors.As(err, &syntax):
		line, column := position(body, syntax.Offset)
		if syntax.Offset >= int64(len(body)) && strings.Contains(syntax.Error(), "unexpected end") {
			return badJSON("the body is not valid JSON: it ends too early, at " + at(line, column))
		}
		return badJSON("the body is not valid JSON: see " + at(line, column))
	case errors.As(err, &mismatch) && mismatch.Field == "":
		return badJSON("the body must be a JSON object")
	case errors.As(err, &mismatch):
		line, column := position(body, mismatch.Offset)
		return invalid(mismatch.Field, "%s must be %s, not %s (%s)", mismatch.Field, kind(mismatch), mismatch.Value, at(line, column))
	}
	var own *failure
	var input *ask.InputError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &input):
		return invalid(input.Field, "%s", input.Message)
	}
	return badJSON("the body could not be read as JSON")
}

func isObject(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && body[0] == '{'
}

func badJSON(message string) *failure {
	return &failure{status: http.StatusBadRequest, code: "invalid_json", message: message}
}

// position is the place of the last character read, counted from 1.
func position(body []byte, offset int64) (line, column int) {
	before := body[:min(max(offset-1, 0), int64(len(body)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

func at(line, column int) string {
	return "line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// kind is what a field should have been, in JSON's words.
func kind(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "slice", "array":
		return "an array"
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	}
	return "an object"
}

// readOptional is readJSON of a body that may be left out.
func (h *Handler) readOptional(w http.ResponseWriter, r *http.Request, v any) *failure {
	body, f := h.readBody(w, r)
	if f != nil || len(bytes.TrimSpace(body)) == 0 {
		return f
	}
	return decode(body, v)
}
