package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf returns the JSON Schema of a struct and the object of its defaults.
func schemaOf(t reflect.Type) (parameters, defaults json.RawMessage, err error) {
	if t.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("the arguments are a %s; they must be a struct", t)
	}
	raw := reflect.TypeFor[json.RawMessage]()
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{raw: {}},
	})
	if err != nil {
		return nil, nil, err
	}
	values := map[string]json.RawMessage{}
	if err := applyTags(t, schema, values); err != nil {
		return nil, nil, err
	}
	if parameters, err = json.Marshal(schema); err != nil {
		return nil, nil, err
	}
	if len(values) > 0 {
		defaults, err = json.Marshal(values)
	}
	return parameters, defaults, err
}

// applyTags adds the tags type, enum, minimum, maximum and default to the inferred
// schema. Defaults are collected in values. If values is nil, they are forbidden: below
// the first level nothing applies them.
func applyTags(t reflect.Type, schema *jsonschema.Schema, values map[string]json.RawMessage) error {
	plainType(schema)
	switch t.Kind() {
	case reflect.Pointer:
		return applyTags(t.Elem(), schema, nil)
	case reflect.Slice, reflect.Array:
		if schema.Items == nil {
			return nil
		}
		return applyTags(t.Elem(), schema.Items, nil)
	case reflect.Map:
		if schema.AdditionalProperties == nil {
			return nil
		}
		return applyTags(t.Elem(), schema.AdditionalProperties, nil)
	case reflect.Struct:
	default:
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		property := schema.Properties[name]
		if field.Anonymous || !field.IsExported() || property == nil {
			continue
		}
		if err := applyTags(field.Type, property, nil); err != nil {
			return fmt.Errorf("field %s: %w", field.Name, err)
		}
		if err := applyField(field, name, schema, property, values); err != nil {
			return fmt.Errorf("field %s: %w", field.Name, err)
		}
	}
	return nil
}

func applyField(field reflect.StructField, name string, parent, property *jsonschema.Schema, values map[string]json.RawMessage) error {
	if kind, ok := field.Tag.Lookup("type"); ok {
		property.Type = kind
	}
	target := property
	if property.Items != nil {
		// The enum and bounds of a list apply to its items.
		target = property.Items
	}
	if enum, ok := field.Tag.Lookup("enum"); ok {
		for _, value := range strings.Split(enum, ",") {
			value = strings.TrimSpace(value)
			var allowed any = value
			if target.Type == "integer" || target.Type == "number" {
				if !json.Valid([]byte(value)) {
					return fmt.Errorf("enum %q is not a number", value)
				}
				allowed = json.Number(value)
			}
			target.Enum = append(target.Enum, allowed)
		}
	}
	for tag, bound := range map[string]**float64{"minimum": &target.Minimum, "maximum": &target.Maximum} {
		text, ok := field.Tag.Lookup(tag)
		if !ok {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%s %q is not a number", tag, text)
		}
		*bound = &value
	}
	text, ok := field.Tag.Lookup("default")
	if !ok {
		return nil
	}
	if values == nil {
		return fmt.Errorf("a default works for fields of the arguments themselves, not below them")
	}
	value := json.RawMessage(text)
	if field.Type.Kind() == reflect.String {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		value = quoted
	}
	if err := json.Unmarshal(value, reflect.New(field.Type).Interface()); err != nil {
		return fmt.Errorf("default %q is not a %s", text, field.Type)
	}
	property.Default, values[name] = value, value
	parent.Required = slices.DeleteFunc(parent.Required, func(required string) bool { return required == name })
	return nil
}

// plainType removes the inferred "null" of lists and pointers: several providers
// refuse a list of types, and a null argument counts as absent anyway.
func plainType(schema *jsonschema.Schema) {
	if len(schema.Types) == 2 && schema.Types[0] == "null" {
		schema.Type, schema.Types = schema.Types[1], nil
	}
}
