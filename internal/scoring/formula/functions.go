package formula

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/near"
)

// function is one that expressions may call.
type function struct {
	least, most int
	t           Type
	// takes is the type of each argument; Any is checked when it is evaluated.
	takes Type
	apply func([]any) (any, error)
}

func functions() map[string]function {
	const many = 100
	return map[string]function{
		"abs":   {1, 1, Number, Number, numeric(func(a []float64) float64 { return math.Abs(a[0]) })},
		"ceil":  {1, 1, Number, Number, numeric(func(a []float64) float64 { return math.Ceil(a[0]) })},
		"floor": {1, 1, Number, Number, numeric(func(a []float64) float64 { return math.Floor(a[0]) })},
		"round": {1, 2, Number, Number, numeric(round)},
		"max":   {1, many, Number, Any, numeric(slices.Max[[]float64])},
		"min":   {1, many, Number, Any, numeric(slices.Min[[]float64])},
		"sum":   {1, many, Number, Any, sum},
		"mean":  {1, many, Number, Any, numeric(func(a []float64) float64 { return total(a) / float64(len(a)) })},
		"len":   {1, 1, Number, Any, length},
		"lower": {1, 1, Text, Text, textual(strings.ToLower)},
		"upper": {1, 1, Text, Text, textual(strings.ToUpper)},
	}
}

func newCall(t token, args []node) (node, error) {
	all := functions()
	f, known := all[t.text]
	if !known {
		names := slices.Sorted(maps.Keys(all))
		hint := "there are " + strings.Join(names, ", ")
		if similar := near.Names(t.text, names, 1); len(similar) > 0 {
			hint = "did you mean " + similar[0] + "?"
		}
		return nil, &Error{t.at, "there is no function " + t.text, hint}
	}
	if len(args) < f.least || len(args) > f.most {
		want := fmt.Sprint(f.least)
		if f.most > f.least {
			want = fmt.Sprintf("%d to %d", f.least, f.most)
		}
		return nil, &Error{t.at, fmt.Sprintf("%s takes %s arguments, not %d", t.text, want, len(args)), ""}
	}
	for _, a := range args {
		if f.takes != Any {
			if err := need(t.at, t.text, a, f.takes); err != nil {
				return nil, err
			}
		}
	}
	return &operation{t.text, f.t, args, func(v []any) (any, error) {
		out, err := f.apply(v)
		if err != nil {
			err = fmt.Errorf("%s: %w", t.text, err)
		}
		return out, err
	}}, nil
}

// numeric applies a function to numbers, or to the numbers of one list.
func numeric(f func([]float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		numbers, err := floats(args)
		if err != nil {
			return nil, err
		}
		if len(numbers) == 0 {
			return nil, fmt.Errorf("the list is empty")
		}
		return finite(f(numbers))
	}
}

func floats(args []any) ([]float64, error) {
	if len(args) == 1 {
		if list, ok := args[0].([]any); ok {
			args = list
		}
	}
	out := make([]float64, len(args))
	for i, v := range args {
		f, ok := v.(float64)
		if !ok {
			return nil, fmt.Errorf("needs numbers, not %s", typeOf(v))
		}
		out[i] = f
	}
	return out, nil
}

func sum(args []any) (any, error) {
	numbers, err := floats(args)
	if err != nil {
		return nil, err
	}
	return finite(total(numbers))
}

func total(a []float64) float64 {
	t := 0.0
	for _, f := range a {
		t += f
	}
	return t
}

// round rounds to a number of decimals, 0 without one.
func round(a []float64) float64 {
	scale := 1.0
	if len(a) > 1 {
		scale = math.Pow(10, math.Trunc(math.Max(0, math.Min(15, a[1]))))
	}
	return math.Round(a[0]*scale) / scale
}

func length(args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return float64(utf8.RuneCountInString(v)), nil
	case []any:
		return float64(len(v)), nil
	case map[string]any:
		return float64(len(v)), nil
	}
	return nil, fmt.Errorf("needs a text, a list or a mapping, not %s", typeOf(args[0]))
}

func textual(f func(string) string) func([]any) (any, error) {
	return func(args []any) (any, error) {
		s, ok := args[0].(string)
		if !ok {
			return nil, fmt.Errorf("needs a text, not %s", typeOf(args[0]))
		}
		return f(s), nil
	}
}
