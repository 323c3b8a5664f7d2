package tool

import "github.com/p8-org/p8/llm"

// WithNote is the tool with a document's note behind its description (REM).
// Documents whose prompt has Tool Notes need none here.
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

// withSpec is the tool under another name or description.
func withSpec(t Tool, spec llm.ToolSpec) Tool {
	return wrap(t, func(w *wrapped) { w.spec = spec })
}
