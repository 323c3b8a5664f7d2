package strictapi

import (
	"fmt"
	"slices"
	"strings"
)

// Gemini returns why Gemini refuses a schema in its form of JSON Schema.
func Gemini(schema []byte) error {
	root, err := read(schema)
	if err != nil {
		return err
	}
	known := strings.Fields(`$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems
		minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering
		minLength maxLength pattern minProperties maxProperties default`)
	return walk("schema", root, func(path string, s map[string]any) error {
		for key := range s {
			if !slices.Contains(known, key) {
				return fmt.Errorf("%s: the keyword %s is not supported", path, key)
			}
		}
		if ref, ok := s["$ref"].(string); ok {
			if len(s) > 1 || !strings.HasPrefix(ref, "#/$defs/") || !resolves(root, ref) {
				return fmt.Errorf("%s: $ref %s", path, ref)
			}
		}
		if items, _ := s["items"].(map[string]any); arrays(s) && len(items) == 0 {
			return fmt.Errorf("%s.items: missing field", path)
		}
		return enum(path, s, true)
	}, flags)
}

// flags accepts booleans in additionalProperties only.
func flags(path, key string) error {
	if key == "additionalProperties" {
		return nil
	}
	return fmt.Errorf("%s: not an object", path)
}

func enum(path string, s map[string]any, numbers bool) error {
	if s["enum"] == nil {
		return nil
	}
	list, _ := s["enum"].([]any)
	for _, v := range list {
		_, text := v.(string)
		if _, number := v.(float64); !text && !(number && numbers) {
			return fmt.Errorf("%s.enum: %v", path, v)
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("%s.enum: should be non-empty", path)
	}
	return nil
}

// GeminiOpenAPI returns why Gemini refuses a schema in its older form.
func GeminiOpenAPI(schema []byte) error {
	root, err := read(schema)
	if err != nil {
		return err
	}
	known := strings.Fields(`type format title description nullable enum maxItems minItems properties required minProperties
		maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum`)
	types := []any{"string", "number", "integer", "boolean", "array", "object", nil}
	return walk("schema", root, func(path string, s map[string]any) error {
		for key := range s {
			if !slices.Contains(known, key) {
				return fmt.Errorf("unknown name %q at %s: cannot find field", key, path)
			}
		}
		if _, list := s["type"].([]any); list {
			return fmt.Errorf("%s.type: proto field is not repeating, cannot start list", path)
		}
		if !slices.Contains(types, s["type"]) {
			return fmt.Errorf("%s.type: invalid value", path)
		}
		items, _ := s["items"].(map[string]any)
		if s["type"] == "array" && items["type"] == nil && items["anyOf"] == nil {
			return fmt.Errorf("%s.items: missing field", path)
		}
		if f, ok := s["format"].(string); ok && !slices.Contains(strings.Fields("date-time float double int32 int64"), f) {
			return fmt.Errorf("%s.format: only 'enum' and 'date-time' are supported", path)
		}
		named, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			if text, _ := name.(string); named[text] == nil {
				return fmt.Errorf("%s.required: property %v is not defined", path, name)
			}
		}
		return enum(path, s, false)
	}, func(path, _ string) error { return fmt.Errorf("%s: not an object", path) })
}
