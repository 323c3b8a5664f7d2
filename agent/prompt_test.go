package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// nest moves the configuration of a flat document into json_schema_extra.
func nest(t *testing.T, src []byte) []byte {
	t.Helper()
	var root, extra bytes.Buffer
	out := &root
	for _, line := range bytes.SplitAfter(src, []byte("\n")) {
		if len(line) > 1 && line[0] != ' ' && line[0] != '#' {
			out = &root
			for _, key := range []string{"name:", "extension:", "tools:", "structured_output:"} {
				if bytes.HasPrefix(line, []byte(key)) {
					out = &extra
				}
			}
		}
		if out == &extra {
			line = append([]byte("  "), line...)
		}
		out.Write(line)
	}
	return append(append(root.Bytes(), "json_schema_extra:\n"...), extra.Bytes()...)
}

func TestPromptGolden(t *testing.T) {
	flat := read(t, "testdata/prompts/rich.yaml")
	for dialect, src := range map[string][]byte{"flat": flat, "nested": nest(t, flat)} {
		for _, structured := range []bool{false, true} {
			mode := map[bool]string{false: "text", true: "structured"}[structured]
			t.Run(dialect+"/"+mode, func(t *testing.T) {
				d := parse(t, dialect+".yaml", src)
				if d.Dialect.String() != dialect {
					t.Fatalf("the document is %s", d.Dialect)
				}
				a := compile(t, d, agent.CompileOptions{Structured: &structured})
				golden.Compare(t, fmt.Sprintf("testdata/prompts/rich-%s-%s.md", dialect, mode), a.Prompt+"\n")

				src := append([]byte(fmt.Sprintf("structured_output: %t\n", structured)), src...)
				if declared := compile(t, parse(t, "", src), agent.CompileOptions{}); declared.Prompt != a.Prompt {
					t.Error("structured_output in the document and in the options give different prompts")
				}
			})
		}
	}
}

// The example of REMLight's walkthrough, user context included.
func TestNestedPromptOfREMLight(t *testing.T) {
	d := parse(t, "", read(t, "../testdata/agents/research-agent.yaml"))
	want := `## User Context
Date: 2024-01-15
User: John Doe

You are a research assistant with access to a knowledge base.
Use the search tool to find information before answering.

Always use the action tool to emit observations with confidence scores.

## Internal Thinking Structure (DO NOT output these labels)

Use this structure to organize your thinking, but ONLY output the answer content:

**OUTPUT (what the user sees):** Your response to the user

**INTERNAL (for your tracking only - do NOT include in output):**

Schema (use these EXACT field names):
` + "```yaml" + `
confidence: number
  # How confident you are (0.0 to 1.0)
sources: [string]
  # Entity keys you referenced
` + "```" + `

CRITICAL: Your response must be ONLY the conversational answer text.
Do NOT output field names like 'answer:' or JSON - just the response itself.`
	if got := compile(t, d, agent.CompileOptions{}).SystemPrompt("Date: 2024-01-15\nUser: John Doe"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The mixed example of p8.
func TestFlatPromptOfP8(t *testing.T) {
	d := parse(t, "", []byte(`
name: x
description: D
properties:
  a: {type: string, description: desc a}
  b: {type: integer}
  e: {type: string, enum: [x, y]}
  n: {}
  obj: {type: object, description: an obj, properties: {k: {type: string, description: kd}}}
  arr: {type: array, description: list, items: {type: object, properties: {z: {type: number}}}}
  tags: {type: array, items: {type: string}}
  either: {anyOf: [{type: string}, {type: "null"}], description: a union}
  untyped: {enum: [1, two]}
  ref: {$ref: "#/$defs/R", description: here}
  refs: {type: array, items: {$ref: "#/$defs/R"}}
  maybe: {type: [object, "null"], properties: {q: {type: [integer, "null"]}}}
$defs: {R: {type: object, description: there, properties: {p: {type: boolean}}, required: [p]}}
required: [a]
tools: [{name: search, description: note one}, action]
system_prompt: More.
`))
	want := `D

More.

## Tool Notes
- **search**: note one

## Thinking Structure

Use these to guide your reasoning. Do NOT include these labels in output:

` + "```yaml" + `
a: string (required)
  # desc a
b: integer
e: string (one of: x, y)
n: any
obj:
  # an obj
  k: string
    # kd
arr: [object]
  # list
  # Each item:
    z: number
tags: [string]
either: any
  # a union
untyped: any (one of: 1, two)
ref:
  # here
  p: boolean (required)
refs: [object]
  # Each item:
    p: boolean (required)
maybe:
  q: integer or null
` + "```" + `

CRITICAL: Respond with conversational text only. Do NOT output field names, YAML, or JSON.`
	a := compile(t, d, agent.CompileOptions{})
	if a.Prompt != want {
		t.Errorf("got\n%s\nwant\n%s", a.Prompt, want)
	}
	if a.SystemPrompt("User: x") != a.Prompt {
		t.Error("a flat document's prompt changes with the user")
	}
}

func TestPromptParts(t *testing.T) {
	const head = "description: D\n"
	for name, c := range map[string]struct {
		src, want string
		not       string
	}{
		"extension before system_prompt": {src: "system_prompt: second\nextension: first\n", want: "D\n\nfirst\n\nsecond"},
		"the same text twice":            {src: "system_prompt: same\nextension: same\n", want: "D\n\nsame", not: "same\n\nsame"},
		"no notes":                       {src: "tools: [search]\n", want: "D", not: "## Tool Notes"},
		"no fields":                      {src: "properties: {}\n", want: "D", not: "Thinking"},
	} {
		t.Run(name, func(t *testing.T) {
			a := compile(t, parse(t, "", []byte(head+"name: x\n"+c.src)), agent.CompileOptions{})
			if a.Prompt != c.want || c.not != "" && strings.Contains(a.Prompt, c.not) {
				t.Errorf("got %q, want %q without %q", a.Prompt, c.want, c.not)
			}
		})
	}
	t.Run("answer alone", func(t *testing.T) {
		a := compile(t, parse(t, "", []byte(head+"properties: {answer: {type: string}}\njson_schema_extra: {name: x}\n")), agent.CompileOptions{})
		if !strings.Contains(a.Prompt, "**OUTPUT (what the user sees):** Your response\n\nCRITICAL") || strings.Contains(a.Prompt, "INTERNAL") {
			t.Errorf("got %q", a.Prompt)
		}
	})
}

func TestSystemPromptAllocates(t *testing.T) {
	src, err := os.ReadFile("../testdata/agents/research-agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := compile(t, parse(t, "", src), agent.CompileOptions{})
	if n := testing.AllocsPerRun(100, func() { _ = a.SystemPrompt("") }); n != 0 {
		t.Errorf("%v allocations without a user context", n)
	}
}
