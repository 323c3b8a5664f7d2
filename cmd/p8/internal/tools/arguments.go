package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// parameters is the part of a tool's schema that the command line needs.
type parameters struct {
	Properties map[string]struct {
		Type  types `json:"type"`
		Items struct {
			Type types `json:"type"`
		} `json:"items"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// types are the types of a value; none means any.
type types []string

// UnmarshalJSON reads one type or a list of them.
func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// parametersOf reads a schema; a keyword of an odd type counts as absent.
func parametersOf(spec llm.ToolSpec) parameters {
	var p parameters
	_ = json.Unmarshal(spec.Parameters, &p)
	return p
}

// isStdin reports whether the arguments come from standard input.
func isStdin(words []string) bool { return len(words) == 1 && words[0] == "-" }

// argumentsOf returns the arguments of a call: a JSON object, - for one in stdin, or
// key=value pairs. The error is a usage error.
func argumentsOf(words []string, stdin io.Reader, spec llm.ToolSpec) (json.RawMessage, error) {
	text := ""
	switch {
	case isStdin(words):
		raw, err := io.ReadAll(io.LimitReader(stdin, tool.MaxArguments+1))
		if err != nil {
			return nil, fmt.Errorf("standard input cannot be read: %s", show.Reason(err))
		}
		text = string(raw)
	case len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{"):
		text = words[0]
	default:
		return pairs(words, parametersOf(spec))
	}
	args, err := tool.Arguments(text)
	if err != nil {
		return nil, command.Usage("%v", err)
	}
	return args, nil
}

// pairs makes an object of key=value pairs. The schema says whether a value is a text; a
// repeated key is a list.
func pairs(words []string, p parameters) (json.RawMessage, error) {
	args := map[string]any{}
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, command.Usage("%q is no argument: give a JSON object, key=value pairs, or - for a JSON object in stdin", show.OneLine(word))
		}
		property := p.Properties[key]
		list := slices.Contains(property.Type, "array")
		before, twice := args[key]
		switch {
		case list && !strings.HasPrefix(strings.TrimSpace(text), "["):
			items, _ := before.([]any)
			args[key] = append(items, valueOf(text, property.Items.Type))
		case twice:
			return nil, command.Usage("the argument %s is given twice", show.OneLine(key))
		default:
			args[key] = valueOf(text, property.Type)
		}
	}
	return json.Marshal(args)
}

// valueOf is JSON if a text is JSON of an allowed type, else the text as it stands.
func valueOf(text string, allowed types) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil || len(allowed) > 0 && !slices.ContainsFunc(kindsOf(v), func(kind string) bool { return slices.Contains(allowed, kind) }) {
		return text
	}
	return json.RawMessage(text)
}

// kindsOf returns the types of a value. A number may be meant as an integer.
func kindsOf(v any) []string {
	switch v.(type) {
	case nil:
		return []string{"null"}
	case bool:
		return []string{"boolean"}
	case float64:
		return []string{"number", "integer"}
	case []any:
		return []string{"array"}
	case map[string]any:
		return []string{"object"}
	}
	return nil // a text in quotes: the quotes belong to it
}

// checkNames returns a usage error for an argument whose name is almost that of one that
// the tool has, and for one that is missing.
func checkNames(name string, args json.RawMessage, spec llm.ToolSpec) error {
	p := parametersOf(spec)
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(p.Properties) == 0 {
		return nil
	}
	known := slices.Sorted(maps.Keys(p.Properties))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, key) {
			continue
		}
		if similar := near.Names(key, known, 1); len(similar) > 0 && given[similar[0]] == nil {
			return command.Usage("%s has no argument %q: did you mean %s?", name, show.OneLine(key), similar[0])
		}
	}
	for _, key := range p.Required {
		if given[key] == nil {
			return command.Usage("%s needs the argument %s; it takes %s", name, key, takes(known, p.Required))
		}
	}
	return nil
}

// takes lists the arguments of a tool, the optional ones in brackets.
func takes(known, required []string) string {
	list := slices.Clone(required)
	for _, key := range known {
		if !slices.Contains(required, key) {
			list = append(list, "["+key+"]")
		}
	}
	return strings.Join(list, ", ")
}
