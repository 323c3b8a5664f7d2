package schema

import (
	"errors"

	js "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Faults returns the reasons why [Compile] refused an invalid schema, each with its place
// in the schema; none for another error.
func Faults(err error) []Failure {
	var invalid *js.SchemaValidationError
	var cause *js.ValidationError
	if !errors.As(err, &invalid) || !errors.As(invalid.Err, &cause) {
		return nil
	}
	printer := message.NewPrinter(language.English)
	var out []Failure
	var walk func(*js.ValidationError)
	walk = func(e *js.ValidationError) {
		if len(out) >= maxFailed {
			return
		}
		if len(e.Causes) == 0 {
			out = append(out, Failure{Path: e.InstanceLocation, Message: shorten(e.ErrorKind.LocalizedString(printer))})
			return
		}
		if _, choice := e.ErrorKind.(*kind.AnyOf); choice {
			if meant := closest(e); meant != nil {
				walk(meant)
				return
			}
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(cause)
	return out
}

// closest returns the only alternative of the value's type, nil if there are several.
func closest(anyOf *js.ValidationError) *js.ValidationError {
	var found *js.ValidationError
	for _, c := range anyOf.Causes {
		if _, wrongType := c.ErrorKind.(*kind.Type); wrongType && len(c.InstanceLocation) == len(anyOf.InstanceLocation) {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}
