package converse

import (
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/event"
)

// hintFor returns how to answer a question at the prompt.
func hintFor(q event.ActionRequestData) string {
	if q.Kind != event.RequestElicitation {
		return "y approves, n denies, Enter leaves it open"
	}
	if name, _ := loneField(q.Schema); name != "" {
		return show.OneLine(name) + ", or n to decline; Enter leaves it open"
	}
	return "a JSON object such as " + show.OneLine(exampleOf(q.Schema)) + ", or n to decline; Enter leaves it open"
}

// object is the part of a JSON Schema that an answer needs.
type object struct {
	Properties map[string]struct {
		Type string `json:"type"`
	} `json:"properties"`
}

// loneField returns the field of an answer with one field, and its type.
func loneField(schema json.RawMessage) (name, kind string) {
	var o object
	if json.Unmarshal(schema, &o) != nil || len(o.Properties) != 1 {
		return "", ""
	}
	for name, p := range o.Properties {
		return name, p.Type
	}
	return "", ""
}

func exampleOf(schema json.RawMessage) string {
	var o object
	_ = json.Unmarshal(schema, &o)
	fields := map[string]string{}
	for name, p := range o.Properties {
		fields[name] = p.Type
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// contentFor parses an answer: a JSON object, or the value of the only field. It returns
// nil for neither.
func contentFor(schema json.RawMessage, text string) json.RawMessage {
	var whole map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &whole) == nil && whole != nil {
		return json.RawMessage(text)
	}
	name, kind := loneField(schema)
	if name == "" {
		return nil
	}
	value := any(text)
	if kind != "string" {
		switch strings.ToLower(text) {
		case "y", "yes":
			value = true
		default:
			if json.Unmarshal([]byte(text), &value) != nil {
				return nil
			}
		}
	}
	b, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return nil
	}
	return b
}
