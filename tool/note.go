package tool

import "github.com/p8-org/p8/llm"

// WithNote returns the tool with a document's note after its description (REM).
// Documents whose prompt has Tool Notes need none.
func WithNote(t Tool, note string) Tool {
	if note == "" {
		return t
	}
	spec := t.Spec()
	if spec.Description != "" {
		note = spec.Description + "\n\n" + note
	}
	spec.Description = note
	return withSpec(t, spec)
}

// withSpec returns the tool with another name or description.
func withSpec(t Tool, spec llm.ToolSpec) Tool {
	return wrap(t, func(w *wrapped) { w.spec = spec })
}
