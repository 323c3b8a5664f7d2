package strictapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// visit is called with each schema within a schema.
type visit func(path string, s map[string]any) error

// walk visits all schemas in every keyword that has some. Booleans are passed to flag.
func walk(path string, v any, at visit, flag func(path, key string) error) error {
	s, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is not of type 'object', 'boolean'", path)
	}
	if err := at(path, s); err != nil {
		return err
	}
	below := func(key, path string, v any) error {
		if _, isFlag := v.(bool); isFlag {
			return flag(path, key)
		}
		return walk(path, v, at, flag)
	}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		v, here := s[key], path+"."+key
		switch key {
		case "properties", "$defs", "definitions", "patternProperties", "dependentSchemas":
			named, ok := v.(map[string]any)
			if !ok {
				return fmt.Errorf("%s is not of type 'object'", here)
			}
			for _, name := range slices.Sorted(maps.Keys(named)) {
				if err := below(key, here+"["+name+"]", named[name]); err != nil {
					return err
				}
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, ok := v.([]any)
			if !ok {
				return fmt.Errorf("%s is not of type 'array'", here)
			}
			for i, v := range list {
				if err := below(key, fmt.Sprintf("%s[%d]", here, i), v); err != nil {
					return err
				}
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			if err := below(key, here, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrays reports whether a schema's type is, or may be, array.
func arrays(s map[string]any) bool {
	list, _ := s["type"].([]any)
	return s["type"] == "array" || slices.Contains(list, any("array"))
}

// resolves reports whether a reference leads to something within the root.
func resolves(root any, ref string) bool {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return false
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := root.(type) {
		case map[string]any:
			root, ok = v[step]
		case []any:
			var i int
			_, err := fmt.Sscan(step, &i)
			if ok = err == nil && i >= 0 && i < len(v); ok {
				root = v[i]
			}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

// plainRoot checks the root as OpenAI and Anthropic do.
func plainRoot(root map[string]any, refused ...string) error {
	if root["type"] != "object" {
		return fmt.Errorf("schema must be a JSON Schema of 'type: \"object\"', got 'type: %v'", root["type"])
	}
	for _, key := range refused {
		if root[key] != nil {
			return fmt.Errorf("schema must not have %s at the top level", key)
		}
	}
	return nil
}

// OpenAI returns why OpenAI refuses a schema that is not strict.
func OpenAI(schema []byte) error {
	root, err := read(schema)
	if err != nil {
		return err
	}
	if err := plainRoot(root, "oneOf", "anyOf", "allOf", "enum", "not"); err != nil {
		return err
	}
	if root["properties"] == nil {
		return fmt.Errorf("in context=(), object schema missing properties")
	}
	return walk("", root, func(path string, s map[string]any) error {
		if ref, ok := s["$ref"].(string); ok && !resolves(root, ref) {
			return fmt.Errorf("in context=(%s), reference %s leads nowhere", path, ref)
		}
		if _, ok := s["items"].(map[string]any); arrays(s) && !ok {
			if s["items"] == nil {
				return fmt.Errorf("in context=(%s), array schema missing items", path)
			}
			return fmt.Errorf("in context=(%s), array schema items is not an object", path)
		}
		return nil
	}, func(path, key string) error {
		if key == "additionalProperties" || key == "not" || key == "if" || key == "then" || key == "else" {
			return nil
		}
		return fmt.Errorf("in context=(%s), schema is not an object", path)
	})
}

var propertyKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// Anthropic returns why Anthropic refuses the schema of a tool.
func Anthropic(schema []byte) error {
	root, err := read(schema)
	if err != nil {
		return err
	}
	if err := plainRoot(root, "oneOf", "anyOf", "allOf"); err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("schema is not JSON: %w", err)
	}
	if dialect, _ := root["$schema"].(string); dialect != "" && !strings.Contains(dialect, "2020-12") {
		return fmt.Errorf("schema must match JSON Schema draft 2020-12, not %s", dialect)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("tool:schema", doc); err != nil {
		return fmt.Errorf("schema must match JSON Schema draft 2020-12: %w", err)
	}
	if _, err := c.Compile("tool:schema"); err != nil {
		return fmt.Errorf("schema must match JSON Schema draft 2020-12: %w", err)
	}
	return walk("", root, func(path string, s map[string]any) error {
		named, _ := s["properties"].(map[string]any)
		for name := range named {
			if !propertyKey.MatchString(name) {
				return fmt.Errorf("%s.properties: property keys should match pattern '%s'", path, propertyKey)
			}
		}
		return nil
	}, func(string, string) error { return nil })
}

func read(schema []byte) (map[string]any, error) {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("schema is not a JSON object: %w", err)
	}
	return root, nil
}
