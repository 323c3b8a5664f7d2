package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/p8-org/p8/tool"
)

// card is REM's action request card.
type card struct {
	ID           string       `json:"id"`
	Prompt       string       `json:"prompt"`
	DisplayStyle string       `json:"display_style"`
	Actions      []cardAction `json:"actions"`
	Inputs       []cardInput  `json:"inputs"`
	TimeoutMS    int64        `json:"timeout_ms,omitempty"`
}

// cardAction is a button.
type cardAction struct {
	Type  string            `json:"type"`
	ID    string            `json:"id"`
	Title string            `json:"title"`
	Style string            `json:"style"`
	Data  map[string]string `json:"data"`
}

// cardInput is a field of a form; which members it has depends on its type.
type cardInput struct {
	Type        string       `json:"type"`
	ID          string       `json:"id"`
	Label       string       `json:"label,omitempty"`
	Title       string       `json:"title,omitempty"`
	Placeholder string       `json:"placeholder,omitempty"`
	Required    bool         `json:"is_required,omitempty"`
	MaxLength   int          `json:"max_length,omitempty"`
	Choices     []cardChoice `json:"choices,omitempty"`
	MultiSelect bool         `json:"is_multi_select,omitempty"`
	Value       string       `json:"value,omitempty"`
	ValueOn     string       `json:"value_on,omitempty"`
	ValueOff    string       `json:"value_off,omitempty"`
}

type cardChoice struct {
	Title string `json:"title"`
	Value string `json:"value"`
}

// newCard makes the card of a question: two buttons, and a field for each property of the
// answer.
func newCard(id string, q *tool.Question) json.RawMessage {
	c := card{
		ID: id, Prompt: q.Message, DisplayStyle: "inline", Inputs: inputs(q.Schema),
		TimeoutMS: int64(q.Expires / time.Millisecond),
	}
	accept, decline := "Approve", "Deny"
	if len(q.Schema) > 0 {
		accept, decline = "Submit", "Decline"
	}
	c.Actions = []cardAction{
		{"Action.Submit", tool.Accepted, accept, "positive", map[string]string{"request_id": id, "action": tool.Accepted}},
		{"Action.Submit", tool.Declined, decline, "destructive", map[string]string{"request_id": id, "action": tool.Declined}},
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// property is what a form shows of a JSON Schema.
type property struct {
	Type        any      `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Default     any      `json:"default"`
	MaxLength   int      `json:"maxLength"`
	Enum        []any    `json:"enum"`
	EnumNames   []string `json:"enumNames"`
	OneOf       []titled `json:"oneOf"`
	AnyOf       []titled `json:"anyOf"`
	Items       *property
}

type titled struct {
	Const any    `json:"const"`
	Title string `json:"title"`
}

// inputs returns the fields of a form, in the order of the schema's properties.
func inputs(schema json.RawMessage) []cardInput {
	all := []cardInput{}
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return all
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return all
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return all
		}
		var p property
		if err := d.Decode(&p); err != nil {
			continue // a schema such as true, or with members of odd types
		}
		id, _ := name.(string)
		all = append(all, p.input(id, slices.Contains(s.Required, id)))
	}
	return all
}

func (p *property) input(id string, required bool) cardInput {
	in := cardInput{
		Type: "Input.Text", ID: id, Label: cmp.Or(p.Title, id), Placeholder: p.Description,
		Required: required, MaxLength: p.MaxLength, Value: words(p.Default),
	}
	choices := p.choices()
	if p.Type == "array" && p.Items != nil {
		choices, in.MultiSelect = p.Items.choices(), true
	}
	switch {
	case len(choices) > 0:
		in.Type, in.Choices, in.Placeholder, in.MaxLength = "Input.ChoiceSet", choices, "", 0
	case p.Type == "boolean":
		return cardInput{
			Type: "Input.Toggle", ID: id, Title: cmp.Or(p.Title, p.Description, id),
			Value: cmp.Or(in.Value, "false"), ValueOn: "true", ValueOff: "false",
		}
	default:
		in.MultiSelect = false
	}
	return in
}

// choices returns the values that a property may have; none if it may have any.
func (p *property) choices() []cardChoice {
	var all []cardChoice
	for i, v := range p.Enum {
		title := words(v)
		if i < len(p.EnumNames) {
			title = p.EnumNames[i]
		}
		all = append(all, cardChoice{title, words(v)})
	}
	for _, t := range slices.Concat(p.OneOf, p.AnyOf) {
		if t.Const != nil {
			all = append(all, cardChoice{cmp.Or(t.Title, words(t.Const)), words(t.Const)})
		}
	}
	return all
}

// words returns a JSON value as a form shows it.
func words(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
