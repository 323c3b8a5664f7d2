package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
)

// maxNamed bounds the tools that an error names.
const maxNamed = 50

// checkChoice checks a request's choice against the tools of the agent and the client.
func checkChoice(choice run.ToolChoice, c *cast.Cast) error {
	wrong := func(format string, args ...any) error {
		return &InputError{"tool_choice", "tool_choice " + fmt.Sprintf(format, args...)}
	}
	named := choice.Allowed
	switch choice.Mode {
	case run.ChoiceRequired:
		if choice.Name != "" {
			named = append(slices.Clip(named), choice.Name)
		}
	case "", run.ChoiceNone:
	default:
		return wrong("is none, auto or required, or names a tool")
	}
	required := choice.Mode == run.ChoiceRequired
	switch {
	case !required && len(named) == 0:
		return nil
	case c.Script != nil && required:
		return wrong("cannot be required: the agent %s is a script, which calls no tools of a request", c.Name)
	case c.Script != nil:
		return nil
	case len(c.Tools) == 0:
		return wrong("asks for a call, but neither the request nor the agent %s has tools", c.Name)
	}
	tools := make([]string, len(c.Tools))
	for i, t := range c.Tools {
		tools[i] = t.Spec().Name
	}
	for _, name := range named {
		if !slices.Contains(tools, name) {
			slices.Sort(tools)
			return wrong("names %q, which is no tool of the request or of the agent %s; they have %s",
				llm.SafeName(name), c.Name, strings.Join(tools[:min(len(tools), maxNamed)], ", "))
		}
	}
	return nil
}

// checkSettings refuses settings of a request that its model does not take.
func checkSettings(s *llm.Settings, c *cast.Cast) error {
	if c.Model == nil {
		return nil
	}
	for _, name := range s.Beyond(c.Model.Capabilities().Takes) {
		return &InputError{name, "the model " + c.Model.Name() + " does not take " + name + "; leave it out, or choose another model"}
	}
	return nil
}

// asked reports whether a model has responded in the run.
func asked(journal *record.Journal) bool {
	if n, _ := journal.HandOvers(); n > 0 {
		return true
	}
	return slices.ContainsFunc(journal.Entries(journal.Thread()), func(e run.Entry) bool {
		return e.Message != nil && e.Message.Role == llm.Assistant
	})
}
