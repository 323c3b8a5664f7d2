package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

func TestNormalise(t *testing.T) {
	for name, c := range map[string]struct{ in, want, hidden string }{
		"nothing":  {``, `{"properties":{},"type":"object"}`, ""},
		"a list":   {`{"$schema":"x","type":"object","properties":{"a":{"type":["null","array"],"items":{"type":["string","null"],"default":null}}}}`, `{"properties":{"a":{"items":{"type":"string"},"type":"array"}},"type":"object"}`, ""},
		"kept":     {`{"properties":{"n":{"type":"integer","default":20,"minimum":1},"e":{"enum":["a","b"]},"o":{"type":"object","properties":{"x":true}}},"required":["n"],"additionalProperties":false}`, `{"additionalProperties":false,"properties":{"e":{"enum":["a","b"]},"n":{"default":20,"minimum":1,"type":"integer"},"o":{"properties":{"x":{}},"type":"object"}},"required":["n"],"type":"object"}`, ""},
		"several":  {`{"type":"object","properties":{"a":{"type":["string","number","null"]}}}`, `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}},"type":"object"}`, ""},
		"identity": {`{"type":["object","null"],"properties":{"userId":{"type":["string","null"]},"tenant_id":{"type":"string"},"q":{"type":"string"}},"required":["userId","q"]}`, `{"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"}`, "tenant_id:tenant userId:user!"},
		"numbers":  {`{"type":"object","properties":{"n":{"default":12345678901234567890}}}`, `{"properties":{"n":{"default":12345678901234567890}},"type":"object"}`, ""},
		"tuple":    {`{"type":"object","properties":{"p":{"type":"array","items":[{"type":["null","number"]},{"type":"string"}],"additionalItems":false}}}`, `{"properties":{"p":{"items":false,"prefixItems":[{"type":"number"},{"type":"string"}],"type":"array"}},"type":"object"}`, ""},
		"bounds":   {`{"type":"object","properties":{"a":{"minimum":0,"exclusiveMinimum":true},"b":{"maximum":9,"exclusiveMaximum":false,"required":true},"c":{"exclusiveMinimum":1}}}`, `{"properties":{"a":{"exclusiveMinimum":0},"b":{"maximum":9},"c":{"exclusiveMinimum":1}},"type":"object"}`, ""},
		"patterns": {`{"type":"object","properties":{"mail":{"type":"string","pattern":"^(?!\\.)x"},"id":{"pattern":"^[a-z]+$"},"o":{"type":"object","patternProperties":{"^(?!x)":{},"^y":{}},"additionalProperties":false}}}`, `{"properties":{"id":{"pattern":"^[a-z]+$"},"mail":{"type":"string"},"o":{"patternProperties":{"^y":{}},"type":"object"}},"type":"object"}`, ""},
	} {
		got, hidden, err := normalise(json.RawMessage(c.in))
		var said []string
		for _, h := range hidden {
			text := h.name + ":" + h.asks
			if h.required {
				text += "!"
			}
			said = append(said, text)
		}
		if err != nil || string(got) != c.want || strings.Join(said, " ") != c.hidden {
			t.Errorf("%s: %v\ngot  %s %v\nwant %s %s", name, err, got, said, c.want, c.hidden)
		}
		if _, err := tool.NewBase(llm.ToolSpec{Name: "x", Parameters: got}); err != nil {
			t.Errorf("%s: no tool can be made of it: %v", name, err)
		}
	}
	for _, bad := range []string{`[]`, `"x"`, `{`, `{"properties":{"user_id":{"type":"integer"}}}`, `{"a":"` + strings.Repeat("x", maxSchema) + `"}`} {
		if got, _, err := normalise(json.RawMessage(bad)); err == nil {
			t.Errorf("%.40s gave %s", bad, got)
		}
	}
}

// A normalised schema does not change when it is normalised again, and it makes a tool or
// is refused.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"object","properties":{"a":{"type":["null","string"]}},"required":["a"]}`,
		`{"properties":{"user_id":{"type":"string"}},"required":["user_id"]}`, `{"$defs":{"x":{"type":[]}},"allOf":[{"$ref":"#/$defs/x"}]}`, `{"type":["a","b"],"anyOf":[]}`,
		`{"items":[{"items":[]}],"additionalItems":[true],"pattern":"(?!","patternProperties":{"(?=":{}},"minimum":1,"exclusiveMinimum":true}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		once, _, err := normalise(json.RawMessage(src))
		if err != nil {
			return
		}
		twice, again, err := normalise(once)
		if err != nil {
			if len(once) > maxSchema {
				return
			}
			t.Fatalf("%s: %v", once, err)
		}
		if string(once) != string(twice) || len(again) > 0 {
			t.Errorf("%s became %s", once, twice)
		}
		base, err := tool.NewBase(llm.ToolSpec{Name: "x", Parameters: once})
		if err == nil && strings.Contains(string(base.Spec().Parameters), `"$schema"`) && !strings.Contains(src, "$schema") {
			t.Error("a schema came from nowhere")
		}
	})
}
