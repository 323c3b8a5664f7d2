package inbound

import (
	"encoding/json"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/run"
)

// toolChoice is a word, or an object that names tools.
type toolChoice run.ToolChoice

// choiceForms are the forms of a tool_choice.
const choiceForms = `none, auto, required, {"type":"function","function":{"name"}} or {"type":"allowed_tools","allowed_tools":{"mode","tools"}}`

// namedTool is a tool in a tool_choice.
type namedTool struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// choiceObject is a tool_choice that names tools.
type choiceObject struct {
	namedTool
	AllowedTools struct {
		Mode  string      `json:"mode"`
		Tools []namedTool `json:"tools"`
	} `json:"allowed_tools"`
}

func (c *toolChoice) UnmarshalJSON(b []byte) error {
	var word string
	var object choiceObject
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &word) == nil:
		return c.set(word, "tool_choice", choiceForms)
	case !web.IsObject(b):
		return problem.Invalid("tool_choice", "tool_choice must be %s", choiceForms)
	case json.Unmarshal(b, &object) != nil:
		return problem.Invalid("tool_choice", "tool_choice has a field of the wrong type; it is %s", choiceForms)
	case object.Type == "function":
		*c = toolChoice{Mode: run.ChoiceRequired, Name: object.Function.Name}
		return object.check("tool_choice")
	case object.Type == "allowed_tools":
		return c.allow(object.AllowedTools.Mode, object.AllowedTools.Tools)
	default:
		return problem.Invalid("tool_choice", "tool_choice.type is %q; tool_choice is %s", web.Cut(object.Type), choiceForms)
	}
	return nil
}

// set sets the mode. field is its place, and forms are what tool_choice may be.
func (c *toolChoice) set(mode, field, forms string) error {
	switch mode {
	case "", "auto":
	case run.ChoiceNone, run.ChoiceRequired:
		c.Mode = mode
	default:
		return problem.Invalid("tool_choice", "%s is %q; it is %s", field, web.Cut(mode), forms)
	}
	return nil
}

// allow restricts the tools that the model is offered.
func (c *toolChoice) allow(mode string, tools []namedTool) error {
	const field = "tool_choice.allowed_tools"
	if len(tools) == 0 {
		return problem.Invalid("tool_choice", "%s.tools is empty; name a tool, or send none", field)
	}
	for _, t := range tools {
		if err := t.check(field + ".tools"); err != nil {
			return err
		}
		c.Allowed = append(c.Allowed, t.Function.Name)
	}
	return c.set(mode, field+".mode", choiceForms)
}

// check refuses a tool that has no name.
func (t *namedTool) check(field string) error {
	if t.Type != "function" || t.Function.Name == "" {
		return problem.Invalid("tool_choice", `%s names no tool; name one as in {"type":"function","function":{"name":"search"}}`, field)
	}
	return nil
}
