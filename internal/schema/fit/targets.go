package fit

import "regexp"

// OpenAI returns the rules of OpenAI's schemas that are not strict: arrays have items,
// also where array is one of several types; the root is an object with properties and
// without alternatives. Strict schemas are not used: they make optional properties
// required and refuse most constraints.
func OpenAI() *Target {
	t := Compatible()
	t.name, t.rootObject = "OpenAI", true
	return t
}

// Compatible returns the rules for servers that speak OpenAI's protocol. They take most
// of JSON Schema, but some pass it on to OpenAI.
func Compatible() *Target {
	return &Target{
		name: "OpenAI-compatible servers", rules: standard(), rest: true, tuples: true,
		item: func() object { return object{} }, empty: anyObject,
	}
}

// Anthropic returns the rules for the schemas of tools. A schema is valid in draft
// 2020-12, its root is an object without alternatives, and names of properties have few
// characters.
func Anthropic() *Target {
	t := &Target{
		name: "Anthropic", rules: standard(), rest: true, tuples: true, rootObject: true,
		property: propertyName.MatchString, empty: anyObject,
	}
	t.rules["$schema"] = dialect
	return t
}

var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// Gemini returns the rules for Gemini's form of JSON Schema.
func Gemini() *Target {
	return &Target{
		name: "Gemini", tuples: true, refs: defsRefs, empty: plainObject,
		// Without a type, or with additional properties left open, Gemini writes empty
		// objects.
		item: func() object {
			return object{{"type", []any{"object", "string", "number", "boolean"}}, {"additionalProperties", true}}
		},
		rules: with(documented(), map[string]rule{
			"type": keep, "format": formats("date-time", "date", "time", "float", "double", "int32", "int64"), "required": list,
			"enum": enum, "const": constant, "$defs": definitions, "definitions": definitions,
			"additionalProperties": one, "anyOf": alternatives, "oneOf": alternatives,
		}),
	}
}

// GeminiOpenAPI returns the rules for Gemini's older form of schemas, a subset of
// OpenAPI 3.0. It cannot say that items may be of any kind.
func GeminiOpenAPI() *Target {
	return &Target{
		name: "Gemini", refs: noRefs, oneType: true, empty: plainObject,
		item: func() object { return object{{"type", "string"}} },
		rules: with(documented(), map[string]rule{
			"type": oneType, "format": formats("date-time", "float", "double", "int32", "int64"), "required": described,
			"enum": textEnum, "const": textConstant, "anyOf": withoutNull, "oneOf": withoutNull,
		}),
	}
}

// standard returns the rules for providers that accept nearly all of JSON Schema.
func standard() map[string]rule {
	rules := map[string]rule{
		"properties": properties, "required": list, "items": items, "prefixItems": tuple, "additionalItems": further,
		"minItems": keep, "maxItems": keep, "exclusiveMinimum": numeric, "exclusiveMaximum": numeric,
	}
	for _, key := range [...]string{"$defs", "definitions", "patternProperties", "dependentSchemas"} {
		rules[key] = each
	}
	for _, key := range [...]string{"anyOf", "oneOf", "allOf"} {
		rules[key] = alternatives
	}
	for _, key := range [...]string{
		"additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
	} {
		rules[key] = one
	}
	return rules
}

// documented returns the rules for what both forms of Gemini accept.
func documented() map[string]rule {
	rules := map[string]rule{
		"properties": properties, "items": items, "prefixItems": tuple, "additionalItems": further, "allOf": merged,
		"exclusiveMinimum": inclusive("minimum", "More than"), "exclusiveMaximum": inclusive("maximum", "Less than"),
	}
	for _, key := range [...]string{
		"title", "description", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength",
		"pattern", "minProperties", "maxProperties", "default", "propertyOrdering",
	} {
		rules[key] = keep
	}
	return rules
}

func with(rules, more map[string]rule) map[string]rule {
	for key, r := range more {
		rules[key] = r
	}
	return rules
}

func plainObject() object { return object{{"type", "object"}} }

func anyObject() object { return object{{"type", "object"}, {"properties", object{}}} }
