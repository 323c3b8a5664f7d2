package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
)

type evidence struct {
	Key    string   `json:"key" jsonschema:"entity key" pattern:"^[a-z-]+$"`
	Weight *float64 `json:"weight,omitempty" minimum:"0" maximum:"1"`
}

type research struct {
	_          struct{}          `agent:"research" prompt:"You are a research assistant."`
	Answer     string            `json:"answer" jsonschema:"the answer"`
	Mood       string            `json:"mood,omitempty" enum:"good,bad"`
	Level      int               `json:"level" enum:"1,2,3"`
	Tags       []string          `json:"tags,omitempty" enum:"a,b" jsonschema:"what it touches"`
	Evidence   []evidence        `json:"evidence"`
	Extra      map[string]string `json:"extra,omitempty"`
	Unexported int               `json:"-"`
}

func TestFromStruct(t *testing.T) {
	d, err := agent.FromStruct[research](agent.Fields{StructuredOutput: true, Tools: []agent.ToolRef{{Name: "search"}}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "research" || d.Description != "You are a research assistant." {
		t.Errorf("got name %q, prompt %q", d.Name, d.Description)
	}
	want := `{"type":"object","required":["answer","level","evidence"],"properties":{` +
		`"answer":{"type":"string","description":"the answer"},"mood":{"type":"string","enum":["good","bad"]},` +
		`"level":{"type":"integer","enum":[1,2,3]},` +
		`"tags":{"type":"array","description":"what it touches","items":{"type":"string","enum":["a","b"]}},` +
		`"evidence":{"type":"array","items":{"type":"object","required":["key"],"properties":{` +
		`"key":{"type":"string","description":"entity key","pattern":"^[a-z-]+$"},` +
		`"weight":{"type":["null","number"],"minimum":0,"maximum":1}},"additionalProperties":false}},` +
		`"extra":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":false}`
	var got, wanted any
	if json.Unmarshal(d.Schema, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
		t.Fatal("not JSON")
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := string(d.Schema); strings.Index(s, `"answer":`) > strings.Index(s, `"mood":`) || strings.Index(s, `"mood":`) > strings.Index(s, `"level":`) {
		t.Errorf("the fields have lost their order: %s", s)
	}
	a := compile(t, d, agent.CompileOptions{})
	if failures := failuresOf(t, a, []byte(`{"answer": "x", "level": 2, "evidence": [{"key": "a-b"}], "tags": ["a"]}`)); failures != nil {
		t.Errorf("got %v", failures)
	}
	checkRoundTrip(t, d, "")
}

type prompted struct {
	Topic string `json:"topic"`
}

func (prompted) Prompt() string { return "By method." }

func TestFromStructPrompt(t *testing.T) {
	d, err := agent.FromStruct[prompted](agent.Fields{})
	if err != nil || d.Description != "By method." || d.Key() != "prompted" {
		t.Errorf("got %v, %v", d, err)
	}
	d, err = agent.FromStruct[prompted](agent.Fields{Name: "mine", Description: "By hand.", Dialect: agent.Nested})
	if err != nil || d.Description != "By hand." || d.Key() != "mine" || d.Dialect != agent.Nested {
		t.Errorf("got %v, %v", d, err)
	}
	if _, err := agent.FromStruct[string](agent.Fields{}); err == nil {
		t.Error("a string is a struct")
	}
	type bad struct {
		N int `json:"n" minimum:"low"`
	}
	if _, err := agent.FromStruct[bad](agent.Fields{Description: "d"}); err == nil || !strings.Contains(err.Error(), "minimum") {
		t.Errorf("got %v", err)
	}
}

func TestFromStructNumbersOfAnEnum(t *testing.T) {
	type sized struct {
		Size *int `json:"size" enum:"1,2"`
	}
	d, err := agent.FromStruct[sized](agent.Fields{Description: "d", StructuredOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	a := compile(t, d, agent.CompileOptions{})
	for answer, ok := range map[string]bool{`{"size":2}`: true, `{"size":3}`: false} {
		if problems := failuresOf(t, a, []byte(answer)); (len(problems) == 0) != ok {
			t.Errorf("%s: %v", answer, problems)
		}
	}
}

func TestNewReportsEverything(t *testing.T) {
	hot := 3.0
	_, err := agent.New(agent.Fields{
		Temperature: &hot, StructuredOutput: true, Tools: []agent.ToolRef{{}},
		Schema: json.RawMessage(`{"properties": {"a": {"type": "strng"}}}`),
	})
	var problems agent.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	for _, want := range []string{"no name", "description is missing", "temperature", "name is empty", `"strng"`} {
		if !strings.Contains(err.Error(), want) && !(want == "name is empty" && strings.Contains(err.Error(), "name is missing")) {
			t.Errorf("nothing about %q in:\n%v", want, err)
		}
	}
	for _, schema := range []string{`[]`, `{"a"`, `{"type": "object", "type": "object"}`} {
		if _, err := agent.New(agent.Fields{Name: "x", Description: "d", Schema: json.RawMessage(schema)}); err == nil {
			t.Errorf("the schema %s passes", schema)
		}
	}
}

func ExampleNew() {
	doc, err := agent.New(agent.Fields{
		Name:        "my-agent",
		Description: "You are a research assistant. Search before answering.",
		Tools:       []agent.ToolRef{{Name: "search", Description: "Query the knowledge base"}},
		Schema:      json.RawMessage(`{"properties": {"topic": {"type": "string", "description": "Primary topic"}}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := agent.Compile(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Prompt)
	// Output:
	// You are a research assistant. Search before answering.
	//
	// ## Tool Notes
	// - **search**: Query the knowledge base
	//
	// ## Thinking Structure
	//
	// Use these to guide your reasoning. Do NOT include these labels in output:
	//
	// ```yaml
	// topic: string
	//   # Primary topic
	// ```
	//
	// CRITICAL: Respond with conversational text only. Do NOT output field names, YAML, or JSON.
}

func ExampleParse() {
	_, err := agent.Parse("greeter.yaml", []byte("name: greeter\ndescripton: You greet people.\ntools: search\n"))
	var problems agent.Problems
	if errors.As(err, &problems) {
		fmt.Print(problems.Detail())
	}
	// Output:
	// greeter.yaml:1:1: error: description is missing: it is the system prompt
	// > 1 | name: greeter
	//     | ^
	//   hint: add description: | with who the agent is and what it does
	// greeter.yaml:2:1: warning: unknown key "descripton"
	//   1 | name: greeter
	// > 2 | descripton: You greet people.
	//     | ^
	//   hint: did you mean description?
	// greeter.yaml:3:8: error: tools must be a list, not a string
	//   2 | descripton: You greet people.
	// > 3 | tools: search
	//     |        ^
	//   hint: write a list: [search]
}
