package schema

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// fields are n properties with the same schema; %d in it is the number.
func fields(n int, each string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":%s,`, i, strings.ReplaceAll(each, "%d", fmt.Sprint(i)))
	}
	return `{"type":"object","properties":{` + b.String() + `"z":{}}}`
}

// TestHostileSchemas: small texts that cost much. Each is refused with its place, for a few
// megabytes at most.
func TestHostileSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, at, says string }{
		"forty alternatives deep":         {chain(40, "anyOf", `{"type":"string"}`), "/$defs/d28", "stands for more than 10000"},
		"forty conjunctions deep":         {chain(40, "allOf", `{"type":"string"}`), "/$defs/d28", "stands for more than 10000"},
		"forty of oneOf deep":             {chain(40, "oneOf", `{"type":"string"}`), "/$defs/d28", "stands for more than 10000"},
		"a circle at one place":           {`{"type":"object","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, "/$defs/a", "refers to itself"},
		"a pattern of ten thousand steps": {`{"pattern":"(abcdefghij){1000}"}`, "/pattern", "repeats too much"},
		"a long pattern":                  {`{"pattern":"` + strings.Repeat("\\\\pL", 5000) + `"}`, "/pattern", "repeats too much"},
		"many patterns":                   {fields(600, `{"pattern":"[^x]{900}"}`), "/properties/p108/pattern", "repeats too much"},
		"a pattern for names":             {`{"patternProperties":{"(....){999}.{999}.{999}":{"pattern":"x"}}}`, "/patternProperties/(....){999}.{999}.{999}", "repeats too much"},
		"a huge bound":                    {`{"minimum":1e1000000}`, "/minimum", "too large"},
		"a huge value":                    {`{"enum":[1,{"a":-1e-99999}]}`, "/enum/1/a", "too large"},
		"very many schemas":               {fields(4000, `{}`), "/properties/p3697", "made of more than 3000"},
		"very many values":                {`{"enum":[` + strings.Repeat("1,", 60_000) + `1]}`, "/enum/49998", "more than 50000 values"},
		"very deep":                       {strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat("}", 200), strings.Repeat("/not", 129), "nested more than 128"},
		"references to odd places":        {fields(200, `{"$ref":"#/x/a%d"}`), "/properties/p189/$ref", "outside of $defs"},
		"very many ids":                   {fields(200, `{"$id":"i%d"}`), "/properties/p189", "more than 100 ids"},
		"a reference at run time":         {`{"$dynamicRef":"#x","$defs":{"a":{"$dynamicAnchor":"x"}}}`, "/$dynamicRef", "not followed"},
	} {
		doc := parse(t, c.schema)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Compile(doc, Options{})
		runtime.ReadMemStats(&after)
		var e *Excess
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.says) || e.Hint == "" {
			t.Errorf("%s: %v, want an excess that says %q", name, err, c.says)
			continue
		}
		if Pointer(e.Path) != c.at {
			t.Errorf("%s: at %s, want %s", name, Pointer(e.Path), c.at)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 24<<20 {
			t.Errorf("%s: refusing it took %d MB", name, took>>20)
		}
	}
}

// TestUsualSchemas: large or recursive schemas that are harmless.
func TestUsualSchemas(t *testing.T) {
	shared := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 40 { // 2^40 when written out, but a value has to be as large
		shared += fmt.Sprintf(`"d%d":{"properties":{"l":{"$ref":"#/$defs/d%d"},"r":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	shared += `"d40":{}}}`
	for name, text := range map[string]string{
		"a tree":                  `{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"}}}}`,
		"a union of many":         `{"anyOf":[` + strings.Repeat(`{"$ref":"#/$defs/a"},`, 500) + `{"type":"null"}],"$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#"}}}}}`,
		"shared below fields":     shared,
		"letters of any script":   `{"pattern":"^[\\pL\\pN _'-]{1,64}$"}`,
		"JSON Schema itself":      `{"properties":{"schema":{"$ref":"https://json-schema.org/draft/2020-12/schema"},"old":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`,
		"a place of OpenAPI":      `{"$ref":"#/components/schemas/A","components":{"schemas":{"A":{"type":"object"}}}}`,
		"an enum of ten thousand": `{"enum":[` + strings.Repeat(`"x",`, 10_000) + `1]}`,
	} {
		if _, err := Compile(parse(t, text), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := mustCompile(t, `{"properties":{"schema":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`)
	for value, fits := range map[string]bool{`{"schema":{"properties":{"a":{"type":"string"}}}}`: true, `{"schema":{"properties":{"a":{"type":"text"}}}}`: false} {
		if failures, err := s.Validate(t.Context(), parse(t, value)); err != nil || fits != (len(failures.List) == 0) {
			t.Errorf("%s: %v %v", value, failures, err)
		}
	}
}

// FuzzCompile: no schema takes more than its bounds, panics, or runs on.
func FuzzCompile(f *testing.F) {
	f.Add(chain(40, "anyOf", `{"type":"string"}`), `{"x":"y"}`)
	f.Add(chain(8, "allOf", `{"pattern":"a{3}","unevaluatedProperties":false}`), `{"x":{"a":[1,2]}}`)
	f.Add(`{"$id":"a","$anchor":"b","$ref":"#b","if":{"not":false},"then":{"contains":{"const":1}}}`, `[1,[1],{"a":null}]`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","items":[{"$ref":"#"}],"additionalItems":false,"dependencies":{"a":{}}}`, `[[[]]]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		doc, err := unmarshal(text)
		if err != nil {
			return
		}
		s, err := Compile(doc, Options{AssertFormat: true})
		if err != nil {
			_ = err.Error()
			return
		}
		v, err := unmarshal(value)
		if err != nil {
			return
		}
		const budget = 20_000
		steps, _, err := s.check(t.Context(), v, budget)
		if err == nil && steps > budget {
			t.Fatalf("%d steps", steps)
		}
		if !errors.Is(err, ErrSteps) && err != nil {
			t.Fatal(err)
		}
	})
}
