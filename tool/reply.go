package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/schema"
)

// The bounds of a question in words: fields, choices of a field, characters of a
// description.
const (
	maxFields  = 50
	maxChoices = 20
	maxAbout   = 200
)

// replyField is a field of the answer to a question.
type replyField struct {
	Name     string `json:"-"`
	Required bool   `json:"-"`

	Type        replyTypes `json:"type"`
	Format      string     `json:"format"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Enum        []any      `json:"enum"`
	OneOf       []struct {
		Const any    `json:"const"`
		Title string `json:"title"`
	} `json:"oneOf"`
}

// replyTypes are the types of a field's value, without null.
type replyTypes []string

// UnmarshalJSON reads one type or a list of them.
func (t *replyTypes) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = replyTypes{one}
		return nil
	}
	var list []string
	err := json.Unmarshal(b, &list)
	*t = slices.DeleteFunc(list, func(name string) bool { return name == "null" })
	return err
}

// inWords returns the types for a person; "" if they are not known.
func (t replyTypes) inWords() string {
	known := map[string]string{
		"string": "text", "number": "number", "integer": "whole number", "boolean": "true or false", "array": "list", "object": "object",
	}
	words := make([]string, len(t))
	for i, name := range t {
		words[i] = known[name]
	}
	return strings.Join(words, " or ")
}

// replyFields returns the fields of an answer, in the order of the schema.
func replyFields(answer json.RawMessage) (fields []replyField) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(answer, &s) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var raw json.RawMessage
		if err != nil || d.Decode(&raw) != nil {
			return fields
		}
		f := replyField{}
		exact := json.NewDecoder(bytes.NewReader(raw))
		exact.UseNumber()
		if exact.Decode(&f) != nil {
			f = replyField{} // true, or a keyword of an odd type
		}
		f.Name, _ = name.(string)
		f.Required = slices.Contains(s.Required, f.Name)
		fields = append(fields, f)
	}
	return fields
}

// choices returns the values that the field may have, in words; nil for any.
func (f *replyField) choices() (words []string) {
	for _, value := range f.Enum {
		words = append(words, inWords(value))
	}
	for _, o := range f.OneOf {
		switch {
		case o.Const == nil:
			return nil
		case o.Title != "" && o.Title != inWords(o.Const):
			words = append(words, inWords(o.Const)+": "+o.Title)
		default:
			words = append(words, inWords(o.Const))
		}
	}
	return words
}

// inWords returns a value of JSON for a person: a string without its quotes.
func inWords(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	words, _ := json.Marshal(value) // it was read as JSON
	return string(words)
}

// inWords returns the field on one line.
func (f *replyField) inWords() string {
	kind := f.Type.inWords()
	if slices.Equal(f.Type, replyTypes{"string"}) && f.Format != "" {
		kind = f.Format
	}
	if words := f.choices(); len(words) > maxChoices {
		kind = strings.Join(words[:maxChoices], ", ") + ", …"
	} else if len(words) > 0 {
		kind = strings.Join(words, ", ")
	}
	if !f.Required {
		kind = strings.TrimPrefix(kind+"; optional", "; ")
	}
	line := "- " + f.Name
	if kind != "" {
		line += " (" + kind + ")"
	}
	about := f.Description
	if about == "" {
		about = f.Title
	}
	if about = strings.Join(strings.Fields(about), " "); about != "" {
		line += ": " + Cut(about, maxAbout)
	}
	return line
}

// AskInWords returns a question with the fields of its answer, one a line, for a user who
// can only answer with the next message. answer is the answer's JSON Schema.
func AskInWords(question string, answer json.RawMessage) string {
	fields := replyFields(answer)
	if len(fields) == 0 {
		return question
	}
	lines := []string{question + "\n"}
	for _, f := range fields[:min(len(fields), maxFields)] {
		lines = append(lines, f.inWords())
	}
	if len(fields) > 1 {
		lines = append(lines, "\nAnswer in your own words, or with a JSON object of these fields.")
	}
	return strings.Join(lines, "\n")
}

// CheckReply checks a user's message as the answer to a question: a JSON object, or the
// value of the only field as plain text. Plain text is not checked if there are several
// fields, or if the field is a boolean. The error is the context's, or an *Error with one
// sentence for the user.
func CheckReply(ctx context.Context, answer json.RawMessage, message string) error {
	compiled, err := compile(answer)
	if err != nil {
		return fmt.Errorf("tool: the schema of an answer: %w", err)
	}
	message = strings.TrimSpace(message)
	if strings.HasPrefix(message, "{") {
		return checkReply(ctx, compiled, json.RawMessage(message))
	}
	fields := replyFields(answer)
	if len(fields) != 1 || slices.Contains(fields[0].Type, "boolean") {
		return nil
	}
	var wrong error
	for _, value := range fields[0].values(message) {
		content, err := json.Marshal(map[string]any{fields[0].Name: value})
		if err != nil {
			return fmt.Errorf("tool: the answer to a question: %w", err)
		}
		if wrong = checkReply(ctx, compiled, content); wrong == nil {
			return nil
		}
	}
	var known *Error
	if words := fields[0].choices(); len(words) > 0 && len(words) <= maxChoices && errors.As(wrong, &known) {
		return &Error{notAnAnswer + fields[0].Name + " is one of: " + strings.Join(words, ", ") + "."}
	}
	return wrong
}

// notAnAnswer begins the sentence about a wrong answer.
const notAnAnswer = "This does not answer the question: "

// values returns what a plain text may mean as the value of the field, the least likely one
// first.
func (f *replyField) values(text string) []any {
	values := []any{text}
	if json.Valid([]byte(text)) {
		values = append(values, json.RawMessage(text))
	}
	for _, choice := range f.Enum {
		if strings.EqualFold(inWords(choice), text) {
			values = append(values, choice)
		}
	}
	for _, o := range f.OneOf {
		if o.Const != nil && (strings.EqualFold(inWords(o.Const), text) || strings.EqualFold(o.Title, text)) {
			values = append(values, o.Const)
		}
	}
	return values
}

func checkReply(ctx context.Context, compiled *schema.Schema, content json.RawMessage) error {
	err := wording{is: "it is", has: "it has", takes: "it takes", ends: "it ends"}.validate(ctx, compiled, content)
	var known *Error
	if errors.As(err, &known) {
		return &Error{notAnAnswer + known.Message + "."}
	}
	return err
}
