package wire

import "github.com/p8-org/p8/llm"

// Omitted returns the line of text in place of a part that a model cannot read.
func Omitted(p *llm.Part) string {
	text := "[" + string(p.Kind)
	if p.Name != "" {
		text += " " + p.Name
	}
	if p.MediaType != "" {
		text += " (" + p.MediaType + ")"
	}
	return text + " omitted: this model cannot read it]"
}
