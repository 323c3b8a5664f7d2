package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/p8-org/p8/llm/internal/wire"
)

func TestPlainObject(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`: ``,
		`{"description":"anyOf"}`: ``,
		``:                        ``,
		`[1]`:                     ``,
		`true`:                    ``,
		`{"type":"object","description":"Finds.","properties":{"a":{"type":"string"}},"required":["a"],"oneOf":[{"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["b"]},{"properties":{"c":{}}},true]}`: `{"description":"Finds.\nThe arguments also follow this JSON Schema: {\"oneOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"b\"]},{\"properties\":{\"c\":{}}},true]}","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{}},"required":["a"],"type":"object"}`,
		`{"anyOf":[{"properties":{"b":{"type":"integer"}}},{"properties":{"b":{}}}]}`:                                                                                     `{"description":"The arguments also follow this JSON Schema: {\"anyOf\":[{\"properties\":{\"b\":{\"type\":\"integer\"}}},{\"properties\":{\"b\":{}}}]}","properties":{"b":{"type":"integer"}},"type":"object"}`,
		`{"type":"object","description":"Finds.","properties":{"a":{"type":"string"}},"not":{"required":["a"]},"oneOf":[{"properties":{"a":{"type":"integer"},"c":{}}}]}`: `{"description":"Finds.\nThe arguments also follow this JSON Schema: {\"not\":{\"required\":[\"a\"]},\"oneOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"},\"c\":{}}}]}","properties":{"a":{"type":"string"},"c":{}},"type":"object"}`,
	} {
		if want == "" {
			want = schema
		}
		if got := string(wire.PlainObject([]byte(schema))); got != want {
			t.Errorf("%s became\n%s", schema, got)
		}
	}
	plain := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	if n := testing.AllocsPerRun(10, func() { wire.PlainObject(plain) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
