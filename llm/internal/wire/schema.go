package wire

import (
	"encoding/json"
	"slices"
)

// PlainObject rewrites the schema of a tool's arguments for providers that refuse
// alternatives at its root (anyOf, oneOf, allOf, enum, not). The properties of the
// alternatives join the root's; the description says which belong together. All other
// schemas are returned unchanged.
func PlainObject(schema json.RawMessage) json.RawMessage {
	if isPlain(schema) {
		return schema
	}
	var root map[string]json.RawMessage
	if json.Unmarshal(schema, &root) != nil {
		return schema
	}
	properties := map[string]json.RawMessage{}
	rules := map[string]json.RawMessage{}
	for _, key := range refusedAtRoot {
		if rule, ok := root[key]; ok {
			rules[key] = rule
			delete(root, key)
			addProperties(properties, rule)
		}
	}
	// The root's properties take precedence.
	_ = json.Unmarshal(root["properties"], &properties)
	var said string
	_ = json.Unmarshal(root["description"], &said)
	if said != "" {
		said += "\n"
	}
	set := func(key string, v any) {
		if raw, err := json.Marshal(v); err == nil {
			root[key] = raw
		}
	}
	if raw, err := json.Marshal(rules); err == nil {
		set("description", said+"The arguments also follow this JSON Schema: "+string(raw))
	}
	set("properties", properties)
	set("type", "object")
	plain, err := json.Marshal(root)
	if err != nil {
		return schema
	}
	return plain
}

// refusedAtRoot are the keywords that providers refuse at the root.
var refusedAtRoot = [...]string{"anyOf", "oneOf", "allOf", "enum", "not"}

func isPlain(schema []byte) bool {
	s := Scan(schema)
	if !s.Open('{') {
		return true
	}
	for first := true; ; first = false {
		key, more := s.AnyKey(first)
		if !more {
			return true
		}
		if slices.Contains(refusedAtRoot[:], string(key)) {
			return false
		}
		s.Skip()
	}
}

// addProperties adds the properties of a list of alternatives; the first of a name
// counts.
func addProperties(to map[string]json.RawMessage, list json.RawMessage) {
	var alternatives []json.RawMessage
	if json.Unmarshal(list, &alternatives) != nil {
		return
	}
	for _, raw := range alternatives {
		var a struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if json.Unmarshal(raw, &a) != nil {
			continue
		}
		for name, property := range a.Properties {
			if _, ok := to[name]; !ok {
				to[name] = property
			}
		}
	}
}
