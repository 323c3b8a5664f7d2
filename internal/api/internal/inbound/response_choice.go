package inbound

import (
	"encoding/json"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/run"
)

// flatChoice is a tool_choice in the form of the Responses API, in which names stand
// beside the type.
type flatChoice run.ToolChoice

// flatForms are the forms of a flatChoice.
const flatForms = `none, auto, required, {"type":"function","name"} or {"type":"allowed_tools","mode","tools"}`

// flatTool is a tool in a flatChoice.
type flatTool struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

func (c *flatChoice) UnmarshalJSON(b []byte) error {
	var word string
	var object struct {
		flatTool
		Mode  string     `json:"mode"`
		Tools []flatTool `json:"tools"`
	}
	wrong := problem.Invalid("tool_choice", "tool_choice must be %s", flatForms)
	switch {
	case json.Unmarshal(b, &word) == nil:
		return (*toolChoice)(c).set(word, "tool_choice", flatForms)
	case json.Unmarshal(b, &object) != nil:
		return wrong
	case object.Type == "function" && object.Name != "":
		*c = flatChoice{Mode: run.ChoiceRequired, Name: object.Name}
		return nil
	case object.Type != "allowed_tools" || len(object.Tools) == 0:
		return wrong
	}
	for _, t := range object.Tools {
		if t.Type != "function" || t.Name == "" {
			return wrong
		}
		c.Allowed = append(c.Allowed, t.Name)
	}
	return (*toolChoice)(c).set(object.Mode, "tool_choice.mode", flatForms)
}
