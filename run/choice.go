package run

import (
	"slices"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// The modes of a ToolChoice.
const (
	ChoiceNone     = "none"
	ChoiceRequired = "required"
)

// ToolChoice says which tools the model may call, and whether it must call one. The zero
// value leaves it to the model.
type ToolChoice struct {
	// Mode is "" (the model decides), ChoiceNone or ChoiceRequired. ChoiceNone offers the
	// model no tools. ChoiceRequired makes the first response call a tool; the model then
	// decides, or the run would never end.
	Mode string `json:"mode,omitempty"`
	// Name is the tool that ChoiceRequired is about; "" is any.
	Name string `json:"name,omitempty"`
	// Allowed are the only tools that the model is offered; nil is all.
	Allowed []string `json:"allowed,omitempty"`
}

// Later returns the choice after the first response of the model.
func (c ToolChoice) Later() ToolChoice {
	if c.Mode == ChoiceRequired {
		c.Mode, c.Name = "", ""
	}
	return c
}

// offers reports whether the model may call a tool.
func (c *ToolChoice) offers(name string) bool {
	return c.Mode != ChoiceNone && (c.Allowed == nil || slices.Contains(c.Allowed, name))
}

// choose applies the choice to the next request. It is not applied earlier, because calls of
// a step that was interrupted are made in any case.
func (r *runner) choose() {
	c := &r.ToolChoice
	r.req.ToolChoice, r.req.ToolName = "", ""
	if c.Mode == ChoiceNone || c.Allowed != nil {
		var tools []tool.Tool
		var specs []llm.ToolSpec
		for i, spec := range r.req.Tools {
			switch {
			case i >= len(r.Tools): // the structured answer
				specs = append(specs, spec)
			case c.offers(spec.Name):
				tools, specs = append(tools, r.Tools[i]), append(specs, spec)
			}
		}
		r.Tools, r.req.Tools = tools, specs
	}
	if c.Mode == ChoiceRequired && len(r.Tools) > 0 {
		r.req.ToolChoice, r.req.ToolName = ChoiceRequired, c.Name
	}
	*c = ToolChoice{}
}
