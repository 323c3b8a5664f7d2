package body

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/near"
)

// unknown refuses a field that v, a pointer to a struct, does not have. Ignored, a misspelt
// limit or end would be none. text is what v was decoded from.
func unknown(text []byte, v any) *problem.Problem {
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(text, &sent); err != nil {
		return problem.BadJSON("the body must be a JSON object")
	}
	names := fields(reflect.TypeOf(v).Elem())
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			continue // encoding/json has read it
		}
		hint := "the fields are " + strings.Join(names, ", ")
		if meant := near.Names(name, names, 1); len(meant) > 0 {
			hint = "did you mean " + meant[0] + "?"
		}
		return problem.Invalid(web.Cut(name), "there is no field %q here; %s", web.Cut(name), hint)
	}
	return nil
}

// fields returns the JSON names of the fields of a struct.
func fields(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
