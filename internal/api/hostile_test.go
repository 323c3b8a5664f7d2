package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// chained is a schema of n definitions, each of which contains the next one twice.
func chained(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, n)
	return b.String()
}

// TestHostileSchemas: a schema of a few kilobytes that stands for 2^40 is refused with a
// client error wherever a request may contain one.
func TestHostileSchemas(t *testing.T) {
	s := newServer(t, setup{})
	hello := `"messages":[{"role":"user","content":"x"}]`
	_, defs, _ := strings.Cut(chained(40), `"$defs":`)
	document := "name: deep\ndescription: d\nstructured_output: true\nproperties:\n  x: {$ref: '#/$defs/d0'}\n$defs: " + strings.TrimSuffix(defs, "}") + "\n"
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf(`{"type":"function","function":{"name":"t%d","parameters":{"type":"object","properties":{%s"z":{}}}}}`, i, fields(200))
	}
	for name, c := range map[string]struct{ path, body, says string }{
		"a client's tool":   {"/v1/chat/completions", `{` + hello + `,"tools":[{"type":"function","function":{"name":"t","parameters":` + chained(40) + `}}]}`, "/$defs/d28: the schema stands for more than 10000 schemas"},
		"the answer's form": {"/v1/chat/completions", `{` + hello + `,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":` + chained(40) + `}}}`, "/$defs/d28: the schema stands for more than 10000 schemas"},
		"tools together":    {"/v1/chat/completions", `{` + hello + `,"tools":[` + strings.Join(many, ",") + `]}`, "more than 3000 schemas together"},
		"a document":        {"/schemas", document, "stands for more than 10000 schemas"},
		"a large pattern":   {"/v1/chat/completions", `{` + hello + `,"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{"a":{"pattern":"(abcdefghij){1000}"}}}}}]}`, "the pattern repeats too much"},
		"a huge bound":      {"/v1/chat/completions", `{` + hello + `,"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","minProperties":1e1000000}}}]}`, "too large"},
	} {
		kind := "Content-Type: application/json"
		if c.path == "/schemas" {
			kind = "Content-Type: application/yaml"
		}
		w := s.do(http.MethodPost, c.path, c.body, kind)
		if w.Code/100 != 4 || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %.400s, want 4xx with %q", name, w.Code, w.Body, c.says)
		}
	}
}

// fields are n properties.
func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{},`, i)
	}
	return b.String()
}
