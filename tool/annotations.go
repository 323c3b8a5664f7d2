package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Annotations describe a tool to programs, beyond what a model needs; MCP clients show
// them. The zero value says nothing.
type Annotations struct {
	// Title is for people.
	Title string
	// ReadOnly tools change nothing. Destructive ones may lose data. Idempotent ones
	// have no further effect when called again with the same arguments. OpenWorld ones
	// reach beyond p8's own data.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Keyed tools recognise a repeated call by its key ([KeyFrom]): the repetition
	// after a crash has no further effect, while a second call of the model does.
	Keyed bool
	// Signals is true for tools whose calls matter although the model never reads their
	// result: they emit an event for the client, or hand the session over.
	Signals bool
	// Output is the JSON Schema of Result.Content, an object; nil is any text.
	Output json.RawMessage
}

// annotated is a tool that has annotations.
type annotated interface{ Annotations() Annotations }

// AnnotationsOf returns the annotations of t, or the zero value.
func AnnotationsOf(t Tool) Annotations {
	if a, ok := t.(annotated); ok {
		return a.Annotations()
	}
	return Annotations{}
}

// Annotate returns the tool with annotations. It fails if Output is not a JSON Schema
// of an object.
func Annotate(t Tool, a Annotations) (Tool, error) {
	if len(a.Output) > 0 {
		if _, err := compile(a.Output); err != nil {
			return nil, fmt.Errorf("tool %s: output: %w", t.Spec().Name, err)
		}
	}
	return wrap(t, func(w *wrapped) { w.annotations = a }), nil
}

// OutputOf returns the JSON Schema of an answer's type, for [Annotations]. Lists
// without omitempty must not be nil: they would be null.
func OutputOf[Out any]() (json.RawMessage, error) {
	schema, _, err := schemaOf(reflect.TypeFor[Out]())
	return schema, err
}
