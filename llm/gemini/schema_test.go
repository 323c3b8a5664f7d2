package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSchema(t *testing.T) {
	tests := []struct {
		name, schema, json, openAPI string
	}{
		{"the order of properties stays", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer","minimum":1}},"required":["z"],"additionalProperties":false}`,
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer","minimum":1}},"required":["z"],"additionalProperties":false}`,
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer","minimum":1}},"required":["z"]}`},
		{"words that nobody reads", `{"$schema":"x","$id":"y","type":"string","examples":["a"],"not":{},"if":{},"contentEncoding":"base64","title":"T"}`,
			`{"type":"string","title":"T"}`, `{"type":"string","title":"T"}`},
		{"const", `{"const":"a"}`, `{"type":"string","enum":["a"]}`, `{"type":"string","enum":["a"]}`},
		{"numbers", `{"enum":[1,2.5]}`, `{"enum":[1,2.5]}`, `{"description":"One of: 1,2.5"}`},
		{"truth", `{"const":true,"type":"boolean","description":"D"}`, `{"description":"D (One of: true)","type":"boolean"}`, `{"description":"D (One of: true)","type":"boolean"}`},
		{"null among texts", `{"type":["string","null"],"enum":["a",null]}`, `{"type":["string","null"],"enum":["a"]}`, `{"nullable":true,"type":"string","enum":["a"]}`},
		{"several types", `{"type":["string","array"]}`, `{"type":["string","array"]}`, `{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`},
		{"only null", `{"type":"null"}`, `{"type":"null"}`, `{"nullable":true,"type":"string"}`},
		{"exclusive bounds", `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":9}`, `{"type":"number","minimum":0,"maximum":9}`, `{"type":"number","minimum":0,"maximum":9}`},
		{"formats", `{"type":"object","properties":{"a":{"type":"string","format":"uri","description":"A."},"b":{"type":"string","format":"date"},"c":{"type":"string","format":"date-time"}}}`,
			`{"type":"object","properties":{"a":{"description":"A. (Format: uri)","type":"string"},"b":{"type":"string","format":"date"},"c":{"type":"string","format":"date-time"}}}`,
			`{"type":"object","properties":{"a":{"description":"A. (Format: uri)","type":"string"},"b":{"type":"string","description":"Format: date"},"c":{"type":"string","format":"date-time"}}}`},
		{"alternatives", `{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`,
			`{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`, `{"nullable":true,"anyOf":[{"type":"string"},{"type":"integer"}]}`},
		{"an optional", `{"anyOf":[{"type":"string"},{"type":"null"}],"description":"D"}`,
			`{"description":"D","anyOf":[{"type":"string"},{"type":"null"}]}`, `{"description":"D","nullable":true,"type":"string"}`},
		{"all of", `{"allOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"properties":{"b":true},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}`, `{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]}`},
		{"required but not described", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"references", `{"type":"object","properties":{"p":{"$ref":"#/$defs/P","description":"Who."},"q":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"object","properties":{"n":{"const":"x"}}}}}`,
			`{"type":"object","properties":{"p":{"description":"Who.","anyOf":[{"$ref":"#/$defs/P"}]},"q":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"object","properties":{"n":{"type":"string","enum":["x"]}}}}}`,
			`{"type":"object","properties":{"p":{"description":"Who.","type":"object","properties":{"n":{"type":"string","enum":["x"]}}},"q":{"type":"object","properties":{"n":{"type":"string","enum":["x"]}}}}}`},
		{"an older spelling", `{"properties":{"p":{"$ref":"#/definitions/P"}},"definitions":{"P":{"type":"string"}}}`,
			`{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string"}}}`, `{"properties":{"p":{"type":"string"}}}`},
		{"a reference as the root, to itself", `{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}}}`,
			`{"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}},"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}`,
			`{"type":"object","properties":{"next":{"type":"object"}}}`},
		{"a pointer", `{"properties":{"a":{"type":"string"},"b/c":{"$ref":"#/properties/a"},"d":{"$ref":"#/properties/b~1c"},"e":{"$ref":"elsewhere"}}}`,
			`{"properties":{"a":{"type":"string"},"b/c":{"type":"string"},"d":{"type":"string"},"e":{}}}`,
			`{"properties":{"a":{"type":"string"},"b/c":{"type":"string"},"d":{"type":"string"},"e":{}}}`},
		{"lists", `{"type":"array","items":[{"type":"string"}],"minItems":1,"uniqueItems":true}`, `{"type":"array","prefixItems":[{"type":"string"}],"minItems":1}`, `{"type":"array","minItems":1,"items":{"type":"string"}}`},
		{"nonsense", `[1`, `{"type":"object"}`, `{"type":"object"}`},
		{"anything", `true`, `{"type":"object"}`, `{"type":"object"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(appendSchema(nil, []byte(tt.schema), false)); got != tt.json {
				t.Errorf("JSON Schema\ngot  %s\nwant %s", got, tt.json)
			}
			if got := string(appendSchema(nil, []byte(tt.schema), true)); got != tt.openAPI {
				t.Errorf("OpenAPI\ngot  %s\nwant %s", got, tt.openAPI)
			}
		})
	}
}

// TestSchemaIsBounded: references that unfold without end are cut.
func TestSchemaIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 20 {
		n := string(rune('a'+i)) + "0"
		next := string(rune('a'+i+1)) + "0"
		b.WriteString(`"` + n + `":{"type":"object","properties":{"l":{"$ref":"#/$defs/` + next + `"},"r":{"$ref":"#/$defs/` + next + `"}}},`)
	}
	b.WriteString(`"u0":{"type":"string"}}}`)
	for _, openAPI := range []bool{false, true} {
		if got := appendSchema(nil, []byte(b.String()), openAPI); len(got) > 1<<20 || !json.Valid(got) {
			t.Errorf("openAPI=%t: %d bytes", openAPI, len(got))
		}
	}
}

// TestUnfoldingIsBounded: a long description that every field refers to is written a
// few times and not a thousand.
func TestUnfoldingIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 1000 {
		fmt.Fprintf(&b, `"p%d":{"$ref":"#/x/long"},`, i)
	}
	b.WriteString(`"z":{}},"x":{"long":{"type":"string","description":"` + strings.Repeat("x", 100_000) + `"}}}`)
	for _, openAPI := range []bool{false, true} {
		if got := appendSchema(nil, []byte(b.String()), openAPI); len(got) > 2<<20 || !json.Valid(got) {
			t.Errorf("openAPI=%t: %d bytes", openAPI, len(got))
		}
	}
}

// FuzzSchema: whatever the schema, what is sent is a JSON object.
func FuzzSchema(f *testing.F) {
	f.Add(`{"$ref":"#","$defs":{"a":{"$ref":"#/$defs/a"}},"allOf":[{"$ref":"#"}]}`)
	f.Add(`{"type":["null"],"anyOf":[{"type":"null"}],"enum":[null,{}],"items":true,"required":[1],"properties":[]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		for _, openAPI := range []bool{false, true} {
			got := appendSchema(nil, []byte(schema), openAPI)
			if len(got) == 0 || got[0] != '{' || !json.Valid(got) {
				t.Fatalf("%q became %q", schema, got)
			}
		}
	})
}

func BenchmarkSchema(b *testing.B) {
	schema := []byte(`{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":10},"kind":{"enum":["a","b"]}},"required":["query"],"additionalProperties":false}`)
	b.ReportAllocs()
	for b.Loop() {
		appendSchema(nil, schema, false)
	}
}
