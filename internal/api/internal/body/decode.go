package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/ask"
)

// Exampler is a body with an example, which answers a client that sent none.
type Exampler interface{ Example() string }

// Decode parses a JSON object into v. Its problem names the place or the field that
// is wrong.
func Decode(text []byte, v any) *problem.Problem {
	err := json.Unmarshal(text, v)
	var (
		syntax   *json.SyntaxError
		mismatch *json.UnmarshalTypeError
		own      *problem.Problem
		input    *ask.InputError
	)
	switch {
	case err == nil && !web.IsObject(text):
		return problem.BadJSON("the body must be a JSON object")
	case err == nil:
		return nil
	case len(bytes.TrimSpace(text)) == 0:
		example := `{"messages":[{"role":"user","content":"hello"}]}`
		if e, ok := v.(Exampler); ok {
			example = e.Example()
		}
		return problem.BadJSON("the body is empty; send a JSON object such as " + example)
	case errors.As(err, &syntax):
		line, column := position(text, syntax.Offset)
		if syntax.Offset >= int64(len(text)) && strings.Contains(syntax.Error(), "unexpected end") {
			return problem.BadJSON("the body is not valid JSON: it ends too early, at " + At(line, column))
		}
		return problem.BadJSON("the body is not valid JSON: see " + At(line, column))
	case errors.As(err, &mismatch) && mismatch.Field == "":
		return problem.BadJSON("the body must be a JSON object")
	case errors.As(err, &mismatch):
		line, column := position(text, mismatch.Offset)
		return problem.Invalid(mismatch.Field, "%s must be %s, not %s (%s)", mismatch.Field, kind(mismatch), mismatch.Value, At(line, column))
	case errors.As(err, &own):
		return own
	case errors.As(err, &input):
		return problem.Invalid(input.Field, "%s", input.Message)
	}
	return problem.BadJSON("the body could not be read as JSON")
}

// encoded returns the problem of a text that is not UTF-8. encoding/json would put U+FFFD in the
// place of what it cannot read, and the client would not learn of that.
func encoded(text []byte) *problem.Problem {
	if utf8.Valid(text) {
		return nil
	}
	bad := 0
	for {
		r, n := utf8.DecodeRune(text[bad:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		bad += n
	}
	line, column := position(text, int64(bad)+1)
	return problem.BadJSON("the body is not UTF-8: see " + At(line, column) + "; send text in that encoding")
}

// position returns the place of the last character that was read, counted from 1.
func position(text []byte, offset int64) (line, column int) {
	before := text[:min(max(offset-1, 0), int64(len(text)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

// At words a place in a text.
func At(line, column int) string {
	return "line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// kind names the type that a field must have, in JSON's terms.
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
