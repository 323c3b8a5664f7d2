// Package formula evaluates the expressions of evaluators: arithmetic, comparisons and
// conditions over the fields of an answer.
//
//	0.6 * accuracy + 0.4 * completeness
//	pass and severity in ["none", "minor"]
//	overall if len(errors) == 0 else overall / 2
//
// An expression has no loops, no assignments and no functions but a few of arithmetic and
// text. Its cost is at most its length times the size of the values. [Compile] finds
// unknown names and operands of a wrong type, with their place, if the types are known.
package formula

import (
	"errors"
	"fmt"
	"math"
)

// Type is the type of a value.
type Type uint8

// The types. Any is for a value whose type is not known before it is evaluated.
const (
	Any Type = iota
	Number
	Bool
	Text
	List
	Map
	Null
)

// String names the type for an error.
func (t Type) String() string {
	return [...]string{"any value", "a number", "a boolean", "a text", "a list", "a mapping", "null"}[t]
}

// The bounds of an expression.
const (
	maxText  = 2000
	maxDepth = 50
)

// Error is a mistake in an expression.
type Error struct {
	// At is the place in the expression, in characters from 0.
	At      int
	Message string
	// Hint says how to fix it; may be empty.
	Hint string
}

// Error returns message and place.
func (e *Error) Error() string { return fmt.Sprintf("%s at character %d", e.Message, e.At+1) }

// Scope has the names that an expression may use, with their types.
type Scope map[string]Type

// Formula is a compiled expression. It is safe for concurrent use.
type Formula struct {
	text string
	root node
}

// Compile reads an expression. The error is an *Error.
func Compile(text string, scope Scope) (*Formula, error) {
	p, err := newParser(text, scope)
	if err != nil {
		return nil, err
	}
	root, err := p.whole()
	if err != nil {
		return nil, err
	}
	return &Formula{text, root}, nil
}

// Type returns the type of the result.
func (f *Formula) Type() Type { return f.root.typ() }

// String returns the expression.
func (f *Formula) String() string { return f.text }

// Eval evaluates the expression. Values are those of encoding/json, with float64 as
// numbers; a name of the scope without a value is null.
func (f *Formula) Eval(values map[string]any) (any, error) {
	v, err := f.root.eval(values)
	if err != nil {
		return nil, fmt.Errorf("the expression %q: %w", f.text, err)
	}
	return v, nil
}

// ErrNotNumber reports that a result is no number.
var ErrNotNumber = errors.New("the result is not a number")

// Float evaluates the expression to a number; true is 1, false 0.
func (f *Formula) Float(values map[string]any) (float64, error) {
	v, err := f.Eval(values)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case float64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	}
	return 0, fmt.Errorf("the expression %q: %w but %s", f.text, ErrNotNumber, typeOf(v))
}

func typeOf(v any) Type {
	switch v.(type) {
	case nil:
		return Null
	case bool:
		return Bool
	case float64:
		return Number
	case string:
		return Text
	case []any:
		return List
	case map[string]any:
		return Map
	}
	return Any
}

// finite refuses results that are no numbers.
func finite(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("the result of the arithmetic is not a finite number")
	}
	return f, nil
}
