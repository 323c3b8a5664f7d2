package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	js "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"pgregory.net/rapid"
)

func unmarshal(text string) (any, error) { return js.UnmarshalJSON(strings.NewReader(text)) }

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := unmarshal(text)
	if err != nil {
		t.Fatal(err, text)
	}
	return v
}

func mustCompile(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile(parse(t, text), Options{AssertFormat: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// chain is a schema of n definitions, each of which contains the next one twice.
func chain(n int, keyword, last string) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, keyword, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":%s}}`, n, last)
	return b.String()
}

// TestCheckIsNoPower: a shared definition is checked once per value: a few dozen steps
// where the library alone takes 2^10 and more.
func TestCheckIsNoPower(t *testing.T) {
	for _, keyword := range []string{"anyOf", "allOf", "oneOf"} {
		s := mustCompile(t, chain(10, keyword, `{"type":"string"}`))
		for _, value := range []string{`{"x":"text"}`, `{"x":1}`} {
			steps, failures, err := s.check(t.Context(), parse(t, value), MaxSteps)
			if err != nil || steps > 100 {
				t.Errorf("%s of %s: %d steps, %v", keyword, value, steps, err)
			}
			if wrong := value == `{"x":1}` || keyword == "oneOf"; wrong != (len(failures.List) > 0) {
				t.Errorf("%s of %s: %v", keyword, value, failures)
			}
		}
	}
	// A recursive type with many alternatives, deep: a power of the depth for the library.
	kinds := []string{}
	for i := range 10 {
		kinds = append(kinds, fmt.Sprintf(`{"type":"object","properties":{"op":{"const":"k%d"},"l":{"$ref":"#"},"r":{"$ref":"#"}},"required":["op"]}`, i))
	}
	s := mustCompile(t, `{"anyOf":[`+strings.Join(kinds, ",")+`]}`)
	value := `{"op":"k9"}`
	for range 12 {
		value = `{"op":"k9","l":` + value + `}`
	}
	steps, failures, err := s.check(t.Context(), parse(t, value), MaxSteps)
	if err != nil || len(failures.List) > 0 || steps > 1000 {
		t.Errorf("a recursive type: %d steps, %v, %v", steps, failures, err)
	}
}

func TestCheckEnds(t *testing.T) {
	s := mustCompile(t, `{"items":{"type":"integer"}}`)
	items := parse(t, "["+strings.Repeat("1,", 5000)+"1]")
	if _, _, err := s.check(t.Context(), items, 100); !errors.Is(err, ErrSteps) {
		t.Errorf("beyond the budget: %v", err)
	}
	gone := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := s.Validate(ctx, items); !errors.Is(err, gone) {
		t.Errorf("after the context's end: %v", err)
	}
	if failures, err := s.Validate(t.Context(), items); err != nil || len(failures.List) > 0 {
		t.Errorf("within the budget: %v, %v", failures, err)
	}
}

// TestFailuresAreBounded: of twenty thousand failures 200 are reported, in bounded memory.
func TestFailuresAreBounded(t *testing.T) {
	s := mustCompile(t, `{"items":{"anyOf":[{"type":"integer"},{"type":"null"},{"enum":["a"]}]}}`)
	failures, err := s.Validate(t.Context(), parse(t, "["+strings.Repeat(`"b",`, 20_000)+`"b"]`))
	if err != nil || len(failures.List) != maxFailed || failures.More == 0 {
		t.Errorf("%d failures, %d more, %v", len(failures.List), failures.More, err)
	}
	long := mustCompile(t, `{"enum":["`+strings.Repeat(`x","`, 2000)+`"]}`)
	failures, err = long.Validate(t.Context(), "b")
	if err != nil || len(failures.List) != 1 || len(failures.List[0].Message) > maxMessage+3 {
		t.Errorf("a long message: %d bytes, %v", len(failures.List[0].Message), err)
	}
	// Failures within an alternative do not count if another alternative matches.
	mixed := parse(t, "["+strings.Repeat(`"a",`, 30_000)+`"b"]`)
	failures, err = s.Validate(t.Context(), mixed)
	if err != nil || len(failures.List) == 0 || failures.List[0].Path[0] != "30000" {
		t.Errorf("the last of many: %v, %v", failures, err)
	}
}

// TestLikeTheLibrary: for random schemas and values, this package agrees with the library
// wherever the library ends.
func TestLikeTheLibrary(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draft := rapid.SampledFrom([]string{"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
			"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"}).Draw(rt, "draft")
		doc := map[string]any{"$schema": draft}
		for k, v := range drawSchema(rt, 3) {
			doc[k] = v
		}
		doc["$defs"] = map[string]any{"a": any(drawSchema(rt, 2)), "b": any(drawSchema(rt, 1))}
		s, err := Compile(doc, Options{URL: "s:x", AssertFormat: true})
		if err != nil {
			var e *Excess
			if !errors.As(err, &e) || !strings.Contains(e.Message, "refers to itself") {
				return // the library refuses the schema
			}
			return
		}
		c := js.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("s:x", doc); err != nil {
			rt.Fatal(err)
		}
		theirs := c.MustCompile("s:x")
		value := drawValue(rt, 3)
		want := theirs.Validate(value)
		got, err := s.Validate(context.Background(), value)
		if err != nil || (want == nil) != (len(got.List) == 0) {
			rt.Fatalf("schema %v\nvalue %v\nlibrary %v\np8 %v %v", doc, value, want, got, err)
		}
		if text := fmt.Sprint(doc); strings.Contains(text, "anyOf") || strings.Contains(text, "propertyNames") {
			return // worded differently on purpose
		}
		if a, b := leaves(want), lines(got); !slices.Equal(a, b) {
			rt.Fatalf("schema %v\nvalue %v\nlibrary %v\np8 %v", doc, value, a, b)
		}
	})
}

func leaves(err error) []string {
	var out []string
	printer := message.NewPrinter(language.English)
	var walk func(e *js.ValidationError)
	walk = func(e *js.ValidationError) {
		if len(e.Causes) == 0 {
			out = append(out, Pointer(e.InstanceLocation)+": "+sorted(e.ErrorKind.LocalizedString(printer)))
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	var invalid *js.ValidationError
	if errors.As(err, &invalid) {
		walk(invalid)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func lines(f Failures) []string {
	var out []string
	for _, f := range f.List {
		out = append(out, Pointer(f.Path)+": "+sorted(f.Message))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sorted sorts the words of a message: the library lists fields in random order.
func sorted(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, ",", ""))
	slices.Sort(words)
	return strings.Join(words, " ")
}

func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	sub := func() any {
		if rapid.IntRange(0, 9).Draw(t, "bool") == 0 {
			return rapid.Bool().Draw(t, "value")
		}
		return drawSchema(t, depth-1)
	}
	list := func() any {
		out := make([]any, rapid.IntRange(1, 2).Draw(t, "n"))
		for i := range out {
			out[i] = sub()
		}
		return out
	}
	table := func() any {
		return map[string]any{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"): sub()}
	}
	for range rapid.IntRange(0, 3).Draw(t, "keywords") {
		key := rapid.SampledFrom([]string{"type", "const", "enum", "minimum", "maxLength", "pattern", "required", "minItems", "uniqueItems", "maxProperties", "format",
			"$ref", "allOf", "anyOf", "oneOf", "not", "if", "properties", "patternProperties", "additionalProperties", "propertyNames", "items", "tuple",
			"prefixItems", "contains", "minContains", "dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties", "unevaluatedItems"}).Draw(t, "keyword")
		if depth == 0 && slices.Contains([]string{"allOf", "anyOf", "oneOf", "not", "if", "properties", "patternProperties", "additionalProperties", "propertyNames",
			"items", "tuple", "prefixItems", "contains", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems"}, key) {
			key = "type"
		}
		switch key {
		case "type":
			s[key] = rapid.SampledFrom([]any{"string", "integer", "object", "array", "null", []any{"string", "object"}}).Draw(t, "type")
		case "const":
			s[key] = drawValue(t, 1)
		case "enum":
			s[key] = []any{drawValue(t, 1), "a"}
		case "minimum", "maxLength", "minItems", "maxProperties":
			s[key] = float64(rapid.IntRange(0, 2).Draw(t, "bound"))
		case "pattern":
			s[key] = "^a"
		case "format":
			s[key] = "date"
		case "required":
			s[key] = []any{"a"}
		case "uniqueItems":
			s[key] = true
		case "$ref":
			s[key] = rapid.SampledFrom([]string{"#/$defs/a", "#/$defs/b", "#"}).Draw(t, "ref")
		case "allOf", "anyOf", "oneOf", "prefixItems":
			s[key] = list()
		case "tuple":
			s["items"] = list()
			s["additionalItems"] = sub()
		case "not", "additionalProperties", "propertyNames", "items", "contains", "unevaluatedProperties", "unevaluatedItems":
			s[key] = sub()
		case "if":
			s["if"], s["then"], s["else"] = sub(), sub(), sub()
		case "properties", "dependentSchemas":
			s[key] = table()
		case "patternProperties":
			s[key] = map[string]any{"^a": sub()}
		case "minContains":
			s[key], s["maxContains"], s["contains"] = float64(rapid.IntRange(0, 2).Draw(t, "least")), 2.0, map[string]any{"type": "string"}
		case "dependentRequired":
			s[key] = map[string]any{"a": []any{"b"}}
		case "dependencies":
			s[key] = map[string]any{"a": []any{"b"}, "b": map[string]any{"required": []any{"a"}}}
		}
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.SampledFrom([]string{"a", "ab", "2026-01-02", ""}).Draw(t, "text")
	case 2:
		return float64(rapid.IntRange(-1, 3).Draw(t, "number"))
	case 3:
		return rapid.Bool().Draw(t, "bool")
	case 4:
		out := make([]any, rapid.IntRange(0, 3).Draw(t, "n"))
		for i := range out {
			out[i] = drawValue(t, depth-1)
		}
		return out
	}
	out := map[string]any{}
	for _, key := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(t, key) {
			out[key] = drawValue(t, depth-1)
		}
	}
	return out
}
