package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/testkit/golden"
)

func TestCompile(t *testing.T) {
	d := parse(t, "", []byte(`
description: d
json_schema_extra:
  name: Worker One
  model: openai:gpt-4.1
  override_model: openai:o3
  temperature: 0.9
  override_temperature: 0
  max_tokens: 100
  max_iterations: 4
  limits: {total_tokens_limit: 1000}
  tools: [search]
`))
	a := compile(t, d, agent.CompileOptions{})
	if a.Name != "worker-one" || a.Model != "openai:gpt-4.1" || a.OverrideModel != "openai:o3" || a.Structured || a.Output != nil {
		t.Errorf("got %+v", a)
	}
	if a.Settings.Temperature == nil || *a.Settings.Temperature != 0 || a.Settings.MaxTokens != 100 {
		t.Errorf("got settings %+v", a.Settings)
	}
	if want := (agent.Limits{Requests: 4, TotalTokens: 1000}); a.Limits != want {
		t.Errorf("got limits %+v", a.Limits)
	}
	if failures := failuresOf(t, a, []byte("any text")); failures != nil {
		t.Errorf("an agent that answers with text validates: %v", failures)
	}
	if _, err := agent.Compile(nil); err == nil {
		t.Error("nothing compiles")
	}
	byHand, err := agent.Compile(&agent.Document{Fields: agent.Fields{Name: "x", Description: "by hand"}})
	if err != nil || byHand.Prompt != "by hand" || byHand.Name != "x" {
		t.Errorf("got %+v, %v", byHand, err)
	}
	if _, err := agent.Compile(&agent.Document{}); err == nil {
		t.Error("an empty document compiles")
	}
}

func TestOutputSchema(t *testing.T) {
	yes := true
	a := compile(t, parse(t, "", read(t, "testdata/prompts/rich.yaml")), agent.CompileOptions{Structured: &yes})
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(a.Output.Schema); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/prompts/rich.schema.json", out.String())
	if a.Output.Name != "rich" {
		t.Errorf("got name %s", a.Output.Name)
	}

	kept := compile(t, a.Document, agent.CompileOptions{Structured: &yes, KeepDescription: true})
	var stripped, whole map[string]any
	if err := json.Unmarshal(a.Output.Schema, &stripped); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(kept.Output.Schema, &whole); err != nil {
		t.Fatal(err)
	}
	if whole["description"] != a.Document.Description || stripped["description"] != nil {
		t.Error("the switch does not keep the root description")
	}
	delete(whole, "description")
	if diff := cmp.Diff(whole, stripped); diff != "" {
		t.Errorf("more than the description goes: %s", diff)
	}
}

// A document may say which schema an editor checks it with.
func TestEditorSchemaIsNoDialect(t *testing.T) {
	d := parse(t, "x.json", []byte(`{"$schema": "../agent/document.schema.json", "name": "x", "description": "d", "structured_output": true, "properties": {"a": {"type": "string"}}}`))
	if got, want := string(d.Schema), `{"type":"object","properties":{"a":{"type":"string"}}}`; got != want || len(d.Warnings) > 0 {
		t.Errorf("got %s, %v", got, d.Warnings)
	}
	d = parse(t, "x.json", []byte(`{"$schema": "http://json-schema.org/draft-07/schema#", "name": "x", "description": "d", "structured_output": true, "properties": {"a": {"type": "string"}}}`))
	if a := compile(t, d, agent.CompileOptions{}); !strings.Contains(string(d.Schema), "draft-07") || failuresOf(t, a, []byte(`{"a": 1}`)) == nil {
		t.Errorf("got %s", d.Schema)
	}
}

func TestOutputName(t *testing.T) {
	for name, want := range map[string]string{
		"query-agent": "query-agent", "größe": "gr__e", "a.b": "a_b", strings.Repeat("long", 30): strings.Repeat("long", 16),
	} {
		d := parse(t, "", []byte("description: d\nstructured_output: true\nproperties: {a: {type: string}}\nname: "+name))
		if got := compile(t, d, agent.CompileOptions{}).Output.Name; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestStructuredOverride(t *testing.T) {
	yes, no := true, false
	d := parse(t, "", []byte("name: x\ndescription: d"))
	if _, err := agent.CompileWith(d, agent.CompileOptions{Structured: &yes}); err == nil {
		t.Error("an agent without properties is asked for structured output")
	}
	d = parse(t, "", []byte("name: x\ndescription: d\nstructured_output: true\nproperties: {a: {type: string}}"))
	a := compile(t, d, agent.CompileOptions{Structured: &no})
	if a.Structured || a.Output != nil || !strings.Contains(a.Prompt, "## Thinking Structure") || failuresOf(t, a, []byte("text")) != nil {
		t.Errorf("got %+v", a)
	}
}

const strict = `
name: strict
description: d
structured_output: true
additionalProperties: false
required: [answer, confidence]
properties:
  answer: {type: string, minLength: 1}
  confidence: {type: number, minimum: 0, maximum: 1}
  mood: {type: string, enum: [good, bad]}
  mail: {type: string, format: email}
  owner: {anyOf: [{$ref: "#/$defs/Person"}, {type: "null"}]}
  a/b~c: {type: array, items: {type: object, required: [k], properties: {k: {type: integer}}}}
$defs:
  Person: {type: object, required: [name], properties: {name: {type: string}}}
`

func TestValidateOutput(t *testing.T) {
	a := compile(t, parse(t, "", []byte(strict)), agent.CompileOptions{})
	for _, c := range []struct {
		name, raw string
		want      []string
	}{
		{"valid", `{"answer": "x", "confidence": 0.5, "owner": null, "a/b~c": [{"k": 1}]}`, nil},
		{"everything at once", `{"answer": "", "confidence": 2, "mood": "meh", "mail": "nobody", "owner": {}, "a/b~c": [{"k": 1}, {"k": "x"}, {}], "more": 1}`, []string{
			"/: additional properties 'more' not allowed",
			"/answer: minLength: got 0, want 1",
			"/a~1b~0c/1/k: got string, want integer",
			"/a~1b~0c/2: missing property 'k'",
			"/confidence: maximum: got 2, want 1",
			"/mail: 'nobody' is not valid email: missing @",
			"/mood: value must be one of 'good', 'bad'",
			"/owner: missing property 'name'",
		}},
		{"missing", `{}`, []string{"/: missing properties 'answer', 'confidence'"}},
		{"no object", `[1]`, []string{"/: got array, want object"}},
		{"no JSON", `The answer is 4.`, []string{"/: the answer is not valid JSON; answer with one JSON object and nothing else"}},
		{"two values", `{} {}`, []string{"/: the answer is not valid JSON; answer with one JSON object and nothing else"}},
		{"empty", ``, []string{"/: the answer is not valid JSON; answer with one JSON object and nothing else"}},
		{"a number that never ends", `{"answer": "x", "confidence": 1e999999999}`, []string{"/confidence: the number is too large or too small"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, failuresOf(t, a, []byte(c.raw))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	many := failuresOf(t, compile(t, a.Document, agent.CompileOptions{}), []byte(`{"answer": "x", "confidence": 1, "a/b~c": [`+strings.Repeat("1,", 200)+`1]}`))
	if len(many) != 51 || many[50] != "/: and 151 more" {
		t.Errorf("got %d failures, the last %q", len(many), many[len(many)-1])
	}
}

func TestValidateOutputConcurrently(t *testing.T) {
	a := compile(t, parse(t, "", []byte(strict)), agent.CompileOptions{})
	b := compile(t, a.Document, agent.CompileOptions{})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			raw := fmt.Sprintf(`{"answer": "x", "confidence": %d}`, i)
			if failures := failuresOf(t, []*agent.Agent{a, b}[i%2], []byte(raw)); (len(failures) > 0) != (i > 1) {
				t.Errorf("%s: %v", raw, failures)
			}
		})
	}
	wg.Wait()
}
