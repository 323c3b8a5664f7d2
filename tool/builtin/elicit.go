package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// elicitType is the action that asks the user.
const elicitType = "elicit"

// The bounds of a question.
const (
	maxQuestion = 4000
	maxOptions  = 100
)

// elicitation is the payload of an elicit.
type elicitation struct {
	Question       string            `json:"question"`
	Options        []json.RawMessage `json:"options"`
	Schema         json.RawMessage   `json:"schema"`
	ResponseSchema json.RawMessage   `json:"response_schema"`
}

// readElicit reads a payload; false if it asks nothing.
func readElicit(payload json.RawMessage) (in elicitation, ok bool) {
	ok = json.Unmarshal(payload, &in) == nil && strings.TrimSpace(in.Question) != ""
	return in, ok
}

// inWords returns the question with its options or the fields of its answer, one a line, if the
// call is in a dialogue; "" if it asks for neither. wanted is the schema of the answer.
func inWords(ctx context.Context, payload json.RawMessage) (question string, wanted json.RawMessage, err error) {
	in, ok := readElicit(payload)
	if !ok || !tool.InDialogue(ctx) {
		return "", nil, nil
	}
	question = tool.Cut(strings.TrimSpace(in.Question), maxQuestion)
	if wanted, err = in.form(); wanted != nil || err != nil {
		return tool.AskInWords(question, wanted), wanted, err
	}
	if len(in.Options) == 0 || len(in.Options) > maxOptions {
		return "", nil, nil
	}
	var b strings.Builder
	b.WriteString(question + "\n")
	for i, raw := range in.Options {
		_, title, err := readOption(raw)
		if err != nil {
			return "", nil, nil
		}
		fmt.Fprintf(&b, "\n%d. %s", i+1, title)
	}
	return b.String(), nil, nil
}

// form returns the schema of the answer; nil if the payload has none.
func (in *elicitation) form() (json.RawMessage, error) {
	schema := in.ResponseSchema
	if isNone(schema) {
		schema = in.Schema
	}
	switch {
	case isNone(schema):
		return nil, nil
	case tool.CheckSchema(schema) != nil:
		return nil, &tool.Error{Message: `payload.schema is not the JSON Schema of an object; write one such as {"type":"object","properties":{"date":{"type":"string"}},"required":["date"]}`}
	}
	return schema, nil
}

// elicit asks the user, if the context has an asker and the payload says what an
// answer looks like. It fails with tool.ErrPaused until there is an answer. It returns nil
// without an error if the user is not asked.
func elicit(ctx context.Context, payload json.RawMessage, action *event.ActionData) (*tool.Answer, error) {
	asker := tool.AskerFrom(ctx)
	if asker == nil {
		return nil, nil
	}
	in, ok := readElicit(payload)
	if !ok {
		return nil, nil
	}
	schema, err := in.form()
	if schema == nil && err == nil && len(in.Options) > 0 {
		schema, err = choice(in.Options)
	}
	if schema == nil || err != nil {
		return nil, err
	}
	answer, err := asker.Ask(ctx, tool.Question{Kind: event.RequestElicitation, Message: tool.Cut(in.Question, maxQuestion), Schema: schema, Action: action})
	if err != nil {
		return nil, err
	}
	return &answer, nil
}

func isNone(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// choice returns the schema of an answer that is one of the options: texts, numbers, or
// {title, value}.
func choice(options []json.RawMessage) (json.RawMessage, error) {
	if len(options) > maxOptions {
		return nil, &tool.Error{Message: fmt.Sprintf("payload.options has %d entries; at most %d are allowed", len(options), maxOptions)}
	}
	type option struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	answer := struct {
		Type  string   `json:"type"`
		Title string   `json:"title"`
		Enum  []string `json:"enum,omitempty"`
		OneOf []option `json:"oneOf,omitempty"`
	}{Type: "string", Title: "Answer"}
	seen, titled := map[string]bool{}, false
	for i, raw := range options {
		value, title, err := readOption(raw)
		if err != nil {
			return nil, &tool.Error{Message: fmt.Sprintf(`payload.options[%d] is neither a text nor {"title":…,"value":…}`, i)}
		}
		if !seen[value] {
			answer.Enum, answer.OneOf = append(answer.Enum, value), append(answer.OneOf, option{value, title})
		}
		seen[value], titled = true, titled || title != value
	}
	if titled {
		answer.Enum = nil
	} else {
		answer.OneOf = nil
	}
	schema, err := tool.Encode(map[string]any{
		"type": "object", "properties": map[string]any{"answer": answer}, "required": []string{"answer"}, "additionalProperties": false,
	})
	return json.RawMessage(schema), err
}

// readOption reads a text, a number or a boolean, or {title, value} of one.
func readOption(raw json.RawMessage) (value, title string, err error) {
	var titled struct {
		Title string          `json:"title"`
		Value json.RawMessage `json:"value"`
	}
	if raw[0] == '{' {
		if err = json.Unmarshal(raw, &titled); err != nil || isNone(titled.Value) && titled.Title == "" {
			return "", "", fmt.Errorf("builtin: no option: %w", err)
		}
		if isNone(titled.Value) {
			return titled.Title, titled.Title, nil
		}
		raw = titled.Value
	}
	switch raw[0] {
	case '{', '[', 'n':
		return "", "", fmt.Errorf("builtin: no option")
	case '"':
		if err = json.Unmarshal(raw, &value); err != nil {
			return "", "", err
		}
	default:
		value = string(raw)
	}
	if title = titled.Title; title == "" {
		title = value
	}
	return value, title, nil
}

// without returns the model's text for a question that was not answered.
func without(a tool.Answer) string {
	switch a.Action {
	case tool.Accepted:
		return ""
	case tool.Declined:
		return "the user declined to answer"
	case tool.Expired:
		return "nobody answered in time"
	}
	return "the user went on without an answer"
}
