package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
)

// maxSchema bounds the schema of one tool.
const maxSchema = 64 << 10

// The fields of the identity that an argument may ask for.
const (
	askUser   = "user"
	askTenant = "tenant"
)

// hidden is an argument that names the caller; the model does not see it.
type hidden struct {
	name     string
	asks     string
	required bool
}

// normalise returns a server's schema in the form that models accept, and apart from
// it the arguments that name the caller. Types, defaults, enums and nesting stay; a
// nullable type becomes the plain type, and arguments without a type an object.
func normalise(raw json.RawMessage) (json.RawMessage, []hidden, error) {
	if len(raw) > maxSchema {
		return nil, nil, fmt.Errorf("its schema has %d bytes, more than %d", len(raw), maxSchema)
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage(`{}`)
	}
	var root map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil || root == nil {
		return nil, nil, errors.New("its schema is not an object")
	}
	plain(root)
	if _, ok := root["type"]; !ok {
		root["type"] = "object"
	}
	if properties, _ := root["properties"].(map[string]any); properties == nil {
		root["properties"] = map[string]any{}
	}
	asks, err := hide(root)
	if err != nil {
		return nil, nil, err
	}
	out, err := json.Marshal(root)
	return out, asks, err
}

// hide removes the arguments that name the caller from the schema.
func hide(root map[string]any) ([]hidden, error) {
	properties, _ := root["properties"].(map[string]any)
	required, _ := root["required"].([]any)
	var out []hidden
	for name, property := range properties {
		h := hidden{name: name, required: slices.Contains(required, any(name))}
		switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)) {
		case "userid":
			h.asks = askUser
		case "tenantid":
			h.asks = askTenant
		default:
			continue
		}
		if s, _ := property.(map[string]any); s != nil && s["type"] != nil && s["type"] != "string" {
			return nil, fmt.Errorf("its argument %s names the caller and is no text", clip(name))
		}
		delete(properties, name)
		required = slices.DeleteFunc(required, func(r any) bool { return r == name })
		out = append(out, h)
	}
	if len(out) > 0 && root["required"] != nil {
		root["required"] = required
	}
	arrange.By(out, func(a, b hidden) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// schemaTables hold a schema for each name; schemaValues are a schema or a list of
// them.
var (
	schemaTables = []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
	schemaValues = []string{"items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
		"additionalProperties", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems"}
)

// plain makes every type of a schema a single one, in the keywords of the newest
// draft.
func plain(schema map[string]any) {
	modern(schema)
	plainType(schema)
	for _, name := range []string{"required", "properties", "enum"} {
		if v, ok := schema[name]; ok && v == nil {
			delete(schema, name)
		}
	}
	for _, name := range schemaTables {
		table, _ := schema[name].(map[string]any)
		for key, value := range table {
			// true accepts anything; several providers accept only objects here.
			if value == true || value == nil {
				table[key] = map[string]any{}
				continue
			}
			plainValue(value)
		}
	}
	for _, name := range schemaValues {
		plainValue(schema[name])
	}
}

func plainValue(value any) {
	switch v := value.(type) {
	case map[string]any:
		plain(v)
	case []any:
		for _, item := range v {
			plainValue(item)
		}
	}
}

// plainType removes null from a list of types; a null argument counts as absent
// anyway. Several remaining types become alternatives.
func plainType(schema map[string]any) {
	types, ok := schema["type"].([]any)
	if !ok {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
	if len(rest) < len(types) && len(rest) > 0 {
		if value, ok := schema["default"]; ok && value == nil {
			delete(schema, "default")
		}
	}
	switch {
	case len(rest) == 0 && len(types) > 0:
		schema["type"] = "null"
	case len(rest) == 0:
		delete(schema, "type")
	case len(rest) == 1:
		schema["type"] = rest[0]
	case schema["anyOf"] == nil:
		delete(schema, "type")
		alternatives := make([]any, len(rest))
		for i, t := range rest {
			alternatives[i] = map[string]any{"type": t}
		}
		schema["anyOf"] = alternatives
	default:
		schema["type"] = rest
	}
}
