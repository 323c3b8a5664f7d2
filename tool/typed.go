package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/p8-org/p8/llm"
)

// New makes a tool of a Go function. The schema is that of In, a struct:
//
//	type in struct {
//		City string `json:"city" jsonschema:"the city's name"`
//		Unit string `json:"unit,omitempty" enum:"celsius,fahrenheit" default:"celsius"`
//		Days int    `json:"days,omitempty" minimum:"1" maximum:"14" default:"3"`
//	}
//
// A field is required unless it has omitempty, omitzero or a default; the jsonschema
// tag is its description, the type tag the type of a json.RawMessage. Arguments that the
// model leaves out have their default when fn is called.
//
// fn's answer becomes the result: a string or a Result unchanged, anything else as
// JSON. Its error fails the call; see [Tool].
func New[In any](name, description string, fn func(context.Context, In) (any, error)) (Tool, error) {
	return newTyped(name, description, reflect.TypeFor[In](), func(ctx context.Context, decode func(any) error) (any, error) {
		var in In
		if err := decode(&in); err != nil {
			return nil, err
		}
		return fn(ctx, in)
	})
}

// newTyped is the part of New that is not generic, so that it is compiled only once.
func newTyped(name, description string, in reflect.Type, fn func(context.Context, func(any) error) (any, error)) (Tool, error) {
	parameters, defaults, err := schemaOf(in)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", name, err)
	}
	if in.NumField() == 0 {
		parameters = nil // NewBase's schema for none has properties, which some providers need
	}
	base, err := NewBase(llm.ToolSpec{Name: name, Description: description, Parameters: parameters})
	if err != nil {
		return nil, err
	}
	return &typed{Base: base, defaults: defaults, fn: fn}, nil
}

// typed is a tool around a Go function.
type typed struct {
	Base
	// defaults is a JSON object that every call starts from.
	defaults json.RawMessage
	// fn gets a function that decodes the arguments.
	fn func(context.Context, func(any) error) (any, error)
}

// Call decodes the arguments and calls the function.
func (t *typed) Call(ctx context.Context, call Call) (Result, error) {
	out, err := t.fn(ctx, func(in any) error { return t.decode(call.Arguments, in) })
	if err != nil {
		return Result{}, err
	}
	return resultOf(out)
}

func (t *typed) decode(args json.RawMessage, in any) error {
	if len(t.defaults) > 0 {
		if err := json.Unmarshal(t.defaults, in); err != nil {
			return fmt.Errorf("tool %s: defaults: %w", t.spec.Name, err)
		}
	}
	if len(args) == 0 {
		return nil
	}
	if json.Unmarshal(args, in) == nil {
		return nil
	}
	// 20.0 is an integer to JSON Schema and to models, but not to Go.
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return &Error{"the arguments cannot be read as JSON"}
	}
	plain, err := json.Marshal(value)
	if err != nil || json.Unmarshal(plain, in) != nil {
		return &Error{"an argument has the wrong type or is too large a number"}
	}
	return nil
}

func resultOf(out any) (Result, error) {
	switch out := out.(type) {
	case Result:
		return out, nil
	case string:
		return Result{Content: out}, nil
	}
	content, err := Encode(out)
	if err != nil {
		return Result{}, err
	}
	return Result{Content: content}, nil
}

// Encode returns JSON for a model: <, > and & are not escaped.
func Encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("tool: encode the result: %w", err)
	}
	return string(bytes.TrimRight(b.Bytes(), "\n")), nil
}
