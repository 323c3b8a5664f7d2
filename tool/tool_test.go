package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

type weather struct {
	City string          `json:"city" jsonschema:"the city's name"`
	Unit string          `json:"unit,omitempty" enum:"celsius,fahrenheit" default:"celsius"`
	Days int             `json:"days" minimum:"1" maximum:"14" default:"3"`
	Tags []string        `json:"tags,omitempty"`
	Grid [][]float64     `json:"grid,omitempty"`
	At   *place          `json:"at,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

type place struct {
	Names []string `json:"names" enum:"home,work"`
}

func newWeather(t testing.TB, fn func(context.Context, weather) (any, error)) tool.Tool {
	t.Helper()
	w, err := tool.New("weather", "Tells the weather.", fn)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func echo(_ context.Context, in weather) (any, error) { return in, nil }

func TestNewSchema(t *testing.T) {
	const want = `{"type":"object","properties":{
		"city":{"type":"string","description":"the city's name"},
		"unit":{"type":"string","enum":["celsius","fahrenheit"],"default":"celsius"},
		"days":{"type":"integer","minimum":1,"maximum":14,"default":3},
		"tags":{"type":"array","items":{"type":"string"}},
		"grid":{"type":"array","items":{"type":"array","items":{"type":"number"}}},
		"at":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string","enum":["home","work"]}}},
			"required":["names"],"additionalProperties":false},
		"raw":true},"required":["city"],"additionalProperties":false}`
	var got, expected any
	if err := json.Unmarshal(newWeather(t, echo).Spec().Parameters, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}

func TestNewWithoutArguments(t *testing.T) {
	now, err := tool.New("now", "Tells the time.", func(context.Context, struct{}) (any, error) { return "noon", nil })
	if err != nil || string(now.Spec().Parameters) != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("%s, %v", now.Spec().Parameters, err)
	}
}

func TestNewNumbersOfAnEnum(t *testing.T) {
	type in struct {
		Size *int      `json:"size" enum:"1,2"`
		Rate []float64 `json:"rate" enum:"0.5, 1"`
	}
	sized, err := tool.New("sized", "Has sizes.", func(_ context.Context, in in) (any, error) { return in, nil })
	if err != nil {
		t.Fatal(err)
	}
	for args, ok := range map[string]bool{
		`{"size":2,"rate":[0.5,1]}`: true, `{"size":3,"rate":[]}`: false, `{"size":1,"rate":[2]}`: false,
	} {
		if err := tool.Validate(t.Context(), sized, json.RawMessage(args)); (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestNewCall(t *testing.T) {
	w := newWeather(t, echo)
	for args, want := range map[string]string{
		`{"city":"Oslo"}`: `{"city":"Oslo","unit":"celsius","days":3}`,
		`{"city":"Oslo","days":7.0,"unit":"fahrenheit"}`:                    `{"city":"Oslo","unit":"fahrenheit","days":7}`,
		`{"city":"<b>","at":null,"days":null,"tags":["a&b"],"raw":{"x":1}}`: `{"city":"<b>","unit":"celsius","days":3,"tags":["a&b"],"raw":{"x":1}}`,
	} {
		if err := tool.Validate(t.Context(), w, json.RawMessage(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		res, err := w.Call(t.Context(), tool.Call{Arguments: json.RawMessage(args)})
		if err != nil || res.Content != want {
			t.Errorf("%s: %s, %v; want %s", args, res.Content, err, want)
		}
	}
}

func TestNewResults(t *testing.T) {
	for _, c := range []struct {
		out  any
		want tool.Result
	}{
		{"plain text", tool.Result{Content: "plain text"}},
		{tool.Result{Content: "x", Failed: true}, tool.Result{Content: "x", Failed: true}},
		{map[string]int{"n": 1}, tool.Result{Content: `{"n":1}`}},
		{nil, tool.Result{Content: "null"}},
	} {
		w := newWeather(t, func(context.Context, weather) (any, error) { return c.out, nil })
		if got, err := w.Call(t.Context(), tool.Call{}); err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%v: got %+v, %v", c.out, got, err)
		}
	}
	broken := newWeather(t, func(context.Context, weather) (any, error) { return make(chan int), nil })
	if _, err := broken.Call(t.Context(), tool.Call{}); err == nil {
		t.Error("a channel was encoded")
	}
}

func TestNewRefuses(t *testing.T) {
	type nested struct {
		In struct {
			N int `json:"n" default:"1"`
		} `json:"in"`
	}
	type impostor struct {
		In struct {
			UserID string `json:"userId"`
		} `json:"in"`
	}
	type badDefault struct {
		N int `json:"n" default:"one"`
	}
	type badEnum struct {
		N int `json:"n" enum:"one"`
	}
	refused := func(_ tool.Tool, err error) error { return err }
	for want, err := range map[string]error{
		"below them":         refused(tool.New("t", "", func(context.Context, nested) (any, error) { return nil, nil })),
		"userId is an argum": refused(tool.New("t", "", func(context.Context, impostor) (any, error) { return nil, nil })),
		`default "one" is`:   refused(tool.New("t", "", func(context.Context, badDefault) (any, error) { return nil, nil })),
		`enum "one" is not`:  refused(tool.New("t", "", func(context.Context, badEnum) (any, error) { return nil, nil })),
		"must be a struct":   refused(tool.New("t", "", func(context.Context, string) (any, error) { return nil, nil })),
		`the name "a b"`:     refused(tool.New("a b", "", echo)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want …%s…", err, want)
		}
	}
}

func TestNewBaseRefuses(t *testing.T) {
	for parameters, want := range map[string]string{
		`{`:                 "not valid JSON",
		`{"type":"string"}`: `must have "type": "object"`,
		`{"type":"object","properties":{"a":{"type":"text"}}}`:               "valid against metaschema",
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`: "file:///etc/passwd",
		`{"type":"object","$defs":{"x":{"properties":{"tenant_id":{}}}}}`:    "tenant_id is an argument",
	} {
		_, err := tool.NewBase(llm.ToolSpec{Name: "t", Parameters: json.RawMessage(parameters)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want …%s…", parameters, err, want)
		}
	}
}

func TestValidateTellsEverything(t *testing.T) {
	err := tool.Validate(t.Context(), newWeather(t, echo), json.RawMessage(
		`{"unit":"kelvin","days":99,"tags":["a",1],"at":{"names":["sea"]},"sky":"blue"}`))
	var known *tool.Error
	if !errors.As(err, &known) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		"missing property 'city'", "additional properties 'sky' not allowed", "unit: value must be one of 'celsius', 'fahrenheit'",
		"days: maximum: got 99, want 14", "tags[1]: got number, want string", "at.names[0]: value must be one of 'home', 'work'",
	} {
		if !strings.Contains(known.Message, want) {
			t.Errorf("%q is not in %q", want, known.Message)
		}
	}
}

func TestValidateUnreadable(t *testing.T) {
	w := newWeather(t, echo)
	for args, want := range map[string]string{
		`{"city":"x","days":1e999}`: "an argument is a number that is too large",
		`{"city":`:                  "the arguments are not valid JSON: they end too early",
		`[]`:                        "the arguments do not fit the tool's schema: got array, want object",
	} {
		if err := tool.Validate(t.Context(), w, json.RawMessage(args)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}

func TestValidateIsBounded(t *testing.T) {
	args := `{"city":"x","tags":[1` + strings.Repeat(",1", 5000) + `]}`
	err := tool.Validate(t.Context(), newWeather(t, echo), json.RawMessage(args))
	if err == nil || len(err.Error()) > 2000 || !strings.HasSuffix(err.Error(), "and 4981 more") {
		t.Errorf("%.3000s", err)
	}
}

// foreign is a tool that does not embed Base.
type foreign struct{ spec llm.ToolSpec }

func (f foreign) Spec() llm.ToolSpec                                   { return f.spec }
func (f foreign) Call(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func TestValidateForeignAndEmpty(t *testing.T) {
	f := foreign{llm.ToolSpec{Name: "f", Parameters: json.RawMessage(`{"type":"object","required":["a"]}`)}}
	if err := tool.Validate(t.Context(), f, nil); err == nil || !strings.Contains(err.Error(), "missing property 'a'") {
		t.Errorf("got %v", err)
	}
	if err := tool.Validate(t.Context(), f, json.RawMessage(`{"a":null}`)); err != nil {
		t.Errorf("a required null was dropped: %v", err)
	}
	none := foreign{llm.ToolSpec{Name: "f"}}
	if err := tool.Validate(t.Context(), none, nil); err != nil {
		t.Errorf("no arguments: %v", err)
	}
	if err := tool.Validate(t.Context(), none, json.RawMessage(`{"a":1}`)); err == nil {
		t.Error("an argument that the tool does not have was accepted")
	}
}

func TestArguments(t *testing.T) {
	for text, want := range map[string]string{
		"": "{}", " \n": "{}", "null": "{}", `""`: "{}", `"  "`: "{}", `"null"`: "{}", "{}": "{}",
		` {"a":1} `: `{"a":1}`, `"{\"a\":1}"`: `{"a":1}`, `{"a":{"b":[1]}}`: `{"a":{"b":[1]}}`,
		"{\"a\":\"\xff\"}": "{\"a\":\"\uFFFD\"}", // else no store would take the row
	} {
		if got, err := tool.Arguments(text); err != nil || string(got) != want {
			t.Errorf("Arguments(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"a":`:                                  "not valid JSON: they end too early",
		`{"a":1 "b"}`:                            "not valid JSON: see byte 8",
		`{a:1}`:                                  "not valid JSON: see byte 2",
		`hello`:                                  "not valid JSON",
		`"hello"`:                                "not valid JSON",
		`[1]`:                                    "not a JSON object",
		`{}{}`:                                   "not valid JSON",
		strings.Repeat(" ", tool.MaxArguments+1): "bytes long",
	} {
		_, err := tool.Arguments(text)
		var known *tool.Error
		if !errors.As(err, &known) || !strings.Contains(known.Message, want) {
			t.Errorf("Arguments(%.20q): got %v, want …%s…", text, err, want)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{``, `null`, `{"a":1}`, `"{\"a\":1}"`, `"\"{}\""`, `[`, `{}{}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := tool.Arguments(text)
		if err != nil {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil && !strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Errorf("Arguments(%q) = %q: %v", text, raw, err)
		}
	})
}

func TestDescribe(t *testing.T) {
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	call := tool.Call{ID: "c1", Name: "weather"}
	for _, c := range []struct {
		err    error
		want   string
		secret bool
	}{
		{fmt.Errorf("weather: %w", &tool.Error{Message: "there is no such city"}), "there is no such city", false},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), "the tool did not answer in time", false},
		{context.Canceled, "the call was cancelled", false},
		{errors.New("open /etc/secret"), "the tool failed; the server's log has the reason; trying again may help", true},
	} {
		logged.Reset()
		if got := tool.Describe(t.Context(), log, call, c.err); got != c.want {
			t.Errorf("%v: got %q", c.err, got)
		}
		if c.secret != strings.Contains(logged.String(), "/etc/secret") || c.secret != strings.Contains(logged.String(), "call=c1") {
			t.Errorf("%v: logged %q", c.err, logged.String())
		}
	}
}

func TestRegistry(t *testing.T) {
	named := func(name string) tool.Tool { return foreign{llm.ToolSpec{Name: name}} }
	r, err := tool.NewRegistry(named("search"), named("action"), named("ask_agent"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Register(named("search")); err == nil || !strings.Contains(err.Error(), "registered already") {
		t.Errorf("duplicate: %v", err)
	}
	if got, want := r.Names(), []string{"action", "ask_agent", "search"}; !slices.Equal(got, want) {
		t.Errorf("names %v", got)
	}
	tools, missing := r.Resolve([]agent.ToolRef{
		{Name: "search"}, {Name: "serach", Server: "rem"}, {Name: "action", Server: "local"},
		{Name: "action", Server: "rem"}, {Name: "search", Server: "crm"},
	})
	var names []string
	for _, found := range tools {
		names = append(names, found.Spec().Name)
	}
	if want := []string{"search", "action"}; !slices.Equal(names, want) {
		t.Errorf("resolved %v", names)
	}
	want := []tool.Missing{
		{Ref: agent.ToolRef{Name: "serach", Server: "rem"}, Near: []string{"search"}},
		{Ref: agent.ToolRef{Name: "search", Server: "crm"}},
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Error(diff)
	}
	bad := foreign{llm.ToolSpec{Name: "x", Parameters: json.RawMessage(`{"type":"object","properties":{"user_id":{}}}`)}}
	if _, err := tool.NewRegistry(bad, named("no good")); err == nil ||
		!strings.Contains(err.Error(), "user_id") || !strings.Contains(err.Error(), "no good") {
		t.Errorf("bad tools: %v", err)
	}
	if got := new(tool.Registry).Names(); len(got) != 0 {
		t.Errorf("zero registry: %v", got)
	}
}

func BenchmarkValidate(b *testing.B) {
	w := newWeather(b, echo)
	args := json.RawMessage(`{"city":"Oslo","days":7,"unit":"celsius","tags":["a","b"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := tool.Validate(b.Context(), w, args); err != nil {
			b.Fatal(err)
		}
	}
}
