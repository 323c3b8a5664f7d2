package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/schema"
)

// Approval describes the calls of a tool that the user must allow first. In a
// document it is always, never, or a list of rules.
type Approval struct {
	// Always asks before every call.
	Always bool
	// Rules ask before calls that match one of them.
	Rules []ApprovalRule
}

// ApprovalRule matches a call if all its fields match.
type ApprovalRule struct {
	Name      string            `json:"name,omitempty" doc:"The tool's name; * stands for any text, ? for one character."`
	Arguments map[string]string `json:"arguments,omitempty" doc:"Regular expressions (RE2) that the arguments' values match somewhere, as texts; a.b is the field b of the argument a."`
}

// The values of approval other than rules.
const (
	approvalAlways = "always"
	approvalNever  = "never"
)

// MarshalJSON writes the approval as a document does.
func (a Approval) MarshalJSON() ([]byte, error) {
	switch {
	case a.Always:
		return json.Marshal(approvalAlways)
	case len(a.Rules) == 0:
		return json.Marshal(approvalNever)
	}
	return json.Marshal(a.Rules)
}

// Asks reports whether the user must allow a call first. names are all names of the
// tool. If the rules cannot be decided, for example because the arguments are not an
// object, the answer is true.
func (a *Approval) Asks(args json.RawMessage, names ...string) bool {
	switch {
	case a == nil:
		return false
	case a.Always:
		return true
	}
	values := map[string]any{}
	if len(args) > 0 {
		dec := json.NewDecoder(bytes.NewReader(args))
		dec.UseNumber()
		if dec.Decode(&values) != nil && len(a.Rules) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(a.Rules, func(r ApprovalRule) bool { return r.describes(values, names) })
}

func (r ApprovalRule) describes(values map[string]any, names []string) bool {
	if r.Name != "" && !slices.ContainsFunc(names, func(name string) bool { return globs(r.Name, name) }) {
		return false
	}
	for at, pattern := range r.Arguments {
		re, err := schema.Pattern(pattern)
		if err != nil {
			continue // Parse refuses such a pattern; asking is safe
		}
		if !slices.ContainsFunc(valuesAt(values, at), func(v any) bool { return re.MatchString(ValueText(v)) }) {
			return false
		}
	}
	return true
}

// globs reports whether a pattern matches a name, like path.Match with a * that also matches
// slashes. A pattern that is not valid matches.
func globs(pattern, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return ok || err != nil
}

// valuesAt returns the values of an argument, by its name or as a.b. Tools may
// ignore the case of names, so every spelling counts. null is left out.
func valuesAt(values map[string]any, at string) []any {
	var found []any
	for _, key := range slices.Sorted(maps.Keys(values)) {
		v := values[key]
		switch {
		case v == nil:
		case strings.EqualFold(key, at):
			found = append(found, v)
		case len(at) > len(key) && at[len(key)] == '.' && strings.EqualFold(key, at[:len(key)]):
			if inner, ok := v.(map[string]any); ok {
				found = append(found, valuesAt(inner, at[len(key)+1:])...)
			}
		}
	}
	return found
}

// ValueText formats the value of an argument, whose numbers are json.Number: a
// string as it is, a number without exponent, anything else as JSON.
func ValueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		const widest = 1e21
		f, err := v.Float64()
		if err != nil || !strings.ContainsAny(v.String(), ".eE") || f > widest || f < -widest {
			return v.String()
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}
