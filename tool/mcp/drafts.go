package mcp

import "github.com/p8-org/p8/internal/schema"

// modern translates older drafts of JSON Schema to the newest, and removes patterns
// that only the server can check: too large ones, and those of dialects that Go does
// not know. Libraries of other languages write both, and p8 must not lose their tools.
func modern(schema map[string]any) {
	delete(schema, "$schema")
	tuple(schema)
	bound(schema, "exclusiveMinimum", "minimum")
	bound(schema, "exclusiveMaximum", "maximum")
	if _, old := schema["required"].(bool); old {
		delete(schema, "required")
	}
	if pattern, ok := schema["pattern"].(string); ok && !known(pattern) {
		delete(schema, "pattern")
	}
	if table, ok := schema["patternProperties"].(map[string]any); ok {
		for pattern := range table {
			if !known(pattern) {
				// A property that matches the pattern must not be refused as an
				// additional one.
				delete(table, pattern)
				delete(schema, "additionalProperties")
			}
		}
	}
}

// tuple translates a list of schemas, one for each item (until draft 2019-09).
func tuple(schema map[string]any) {
	items, ok := schema["items"].([]any)
	if !ok {
		return
	}
	delete(schema, "items")
	if len(items) > 0 {
		schema["prefixItems"] = items
	}
	switch rest := schema["additionalItems"].(type) {
	case bool, map[string]any:
		schema["items"] = rest
	}
	delete(schema, "additionalItems")
}

// bound turns an exclusive bound of true (draft 4) into a number.
func bound(schema map[string]any, exclusive, inclusive string) {
	strict, old := schema[exclusive].(bool)
	if !old {
		return
	}
	delete(schema, exclusive)
	if limit, ok := schema[inclusive]; ok && strict {
		schema[exclusive] = limit
		delete(schema, inclusive)
	}
}

func known(pattern string) bool {
	_, err := schema.Pattern(pattern)
	return err == nil
}
