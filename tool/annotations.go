package tool

import "encoding/json"

// Annotations tell a program what a tool does beyond what a model needs to
// know; MCP clients show them. The zero value says nothing.
type Annotations struct {
	// Title is for people.
	Title string
	// ReadOnly tools change nothing. Destructive ones may lose something.
	// Idempotent ones change nothing more when called again alike. OpenWorld ones
	// reach beyond p8's own data.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Output is the JSON Schema of Result.Content, an object; nil is any text.
	Output json.RawMessage
}

// annotated is a tool that has annotations.
type annotated interface{ Annotations() Annotations }

// AnnotationsOf are those of t, else none.
func AnnotationsOf(t Tool) Annotations {
	if a, ok := t.(annotated); ok {
		return a.Annotations()
	}
	return Annotations{}
}
