package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/schema"
)

// MaxArguments bounds the arguments of a call, in bytes.
const MaxArguments = 1 << 20

// Arguments returns a model's arguments as a JSON object. Empty text, blanks and null
// are no arguments; a JSON string that holds an object is that object; bytes that are
// not UTF-8 become U+FFFD. Anything else is an *Error that tells the model what to
// write.
func Arguments(text string) (json.RawMessage, error) {
	if len(text) > MaxArguments {
		return nil, &Error{fmt.Sprintf("the arguments are %d bytes long; at most %d are allowed", len(text), MaxArguments)}
	}
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if strings.HasPrefix(text, `"`) {
		var inner string
		if json.Unmarshal([]byte(text), &inner) == nil {
			text = strings.TrimSpace(inner)
		}
	}
	if text == "" || text == "null" {
		return json.RawMessage("{}"), nil
	}
	raw := json.RawMessage(text)
	if !json.Valid(raw) {
		return nil, &Error{ofArguments().broken(raw) + "; write one JSON object"}
	}
	if text[0] != '{' {
		return nil, &Error{"the arguments are not a JSON object; write one, with the arguments by name"}
	}
	return raw, nil
}

// wording is how messages name the checked value.
type wording struct {
	// is and has begin a sentence about the value; takes and ends continue one.
	is, has, takes, ends string
	// misfits begins the list of failures.
	misfits string
}

// ofArguments returns the words for a model's arguments, ofAnswer those for a user's answer
// to a form.
func ofArguments() wording {
	return wording{"the arguments are", "an argument is", "they take", "they end", "the arguments do not fit the tool's schema: "}
}

func ofAnswer() wording {
	return wording{"the answer is", "the answer has", "it takes", "it ends", "the answer does not fit the question's schema: "}
}

// broken says where JSON is broken.
func (w wording) broken(raw json.RawMessage) string {
	text := w.is + " not valid JSON"
	var broken *json.SyntaxError
	var v any
	switch {
	case !errors.As(json.Unmarshal(raw, &v), &broken):
		return text
	case broken.Offset >= int64(len(raw)):
		return text + ": " + w.ends + " too early"
	}
	return fmt.Sprintf("%s: see byte %d", text, broken.Offset)
}

// validator is a tool with a compiled schema.
type validator interface {
	Validate(ctx context.Context, args json.RawMessage) error
}

// Validate checks arguments against the schema of the tool. No arguments mean {}; an
// optional argument that is null counts as absent. The error is the context's, or an
// *Error with every failure, for a model that tries again.
func Validate(ctx context.Context, t Tool, args json.RawMessage) error {
	if v, ok := t.(validator); ok {
		return v.Validate(ctx, args)
	}
	base, err := NewBase(t.Spec())
	if err != nil {
		return err
	}
	return base.Validate(ctx, args)
}

// CheckSchema fails if the schema of an answer is not a JSON Schema of an object,
// points outside itself, or would take too long to check. Unlike a tool's, it may ask
// for a user id.
func CheckSchema(text json.RawMessage) error {
	_, err := compile(text)
	return err
}

// ValidateAnswer checks a user's answer against the schema of the question; no answer
// means {}. The error is the context's, or an *Error with every failure.
func ValidateAnswer(ctx context.Context, text, content json.RawMessage) error {
	compiled, err := compile(text)
	if err != nil {
		return fmt.Errorf("tool: the schema of an answer: %w", err)
	}
	return ofAnswer().validate(ctx, compiled, content)
}

// validate checks a value; none means {}. The error is the context's, or an *Error.
func (w wording) validate(ctx context.Context, compiled *schema.Schema, args json.RawMessage) error {
	var value any = map[string]any{}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &value); err != nil {
			if json.Valid(args) {
				return &Error{w.has + " a number that is too large"}
			}
			return &Error{w.broken(args)}
		}
		dropNulls(compiled, value)
	}
	failures, err := compiled.Validate(ctx, value)
	switch {
	case errors.Is(err, schema.ErrSteps):
		return &Error{fmt.Sprintf("%s too large to check: %s more than %d steps; send less", w.is, w.takes, schema.MaxSteps)}
	case err != nil:
		return fmt.Errorf("tool: validate: %w", err)
	case len(failures.List) > 0 || failures.More > 0:
		return &Error{w.misfits + list(failures)}
	}
	return nil
}

// dropNulls removes optional arguments that are null: models mean absent ones.
func dropNulls(compiled *schema.Schema, value any) {
	args, _ := value.(map[string]any)
	for name, arg := range args {
		if arg == nil && compiled.Optional(name) {
			delete(args, name)
		}
	}
}

// The bounds of a message about failures.
const (
	maxFailures      = 20
	maxFailureLength = 240
)

// list returns the failures on one line, each with the place of its value.
func list(failures schema.Failures) string {
	var lines []string
	for _, f := range failures.List[:min(len(failures.List), maxFailures)] {
		line := f.Message
		if path := place(f.Path); path != "" {
			line = path + ": " + line
		}
		lines = append(lines, Cut(line, maxFailureLength))
	}
	if more := len(failures.List) - len(lines) + failures.More; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "; ")
}

// place returns a JSON pointer in the form payload.sources[0].
func place(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}

// Cut shortens text to n characters and marks the cut.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n]) + "…"
}
