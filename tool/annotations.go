package tool

import (
	"encoding/json"
	"fmt"
)

// Annotations tell a program what a tool does beyond what a model needs to
// know; MCP clients show them. The zero value says nothing.
type Annotations struct {
	// Title is for people.
	Title string
	// ReadOnly tools change nothing. Destructive ones may lose something.
	// Idempotent ones change nothing more when called again alike. OpenWorld ones
	// reach beyond p8's own data.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Keyed tools recognise a repeated call by its key ([KeyFrom]): made again after a
	// crash it changes nothing more, although a second call of a model does.
	Keyed bool
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

// Annotate is the tool with annotations. It is an error if Output is no JSON
// Schema of an object.
func Annotate(t Tool, a Annotations) (Tool, error) {
	if len(a.Output) > 0 {
		if _, err := compile(a.Output); err != nil {
			return nil, fmt.Errorf("tool %s: output: %w", t.Spec().Name, err)
		}
	}
	return wrap(t, func(w *wrapped) { w.annotations = a }), nil
}

// OutputOf is the JSON Schema of an answer's type, for [Annotations]. Lists that
// the type has no omitempty for must not be nil: they would be null.
func OutputOf[Out any]() (json.RawMessage, error) {
	schema, _, err := schemaOf[Out]()
	return schema, err
}
