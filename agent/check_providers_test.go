package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
)

// TestCheckProviders: each part of a schema that a provider does not have is a warning at
// its place, and only if answers follow the schema.
func TestCheckProviders(t *testing.T) {
	const doc = `name: invoices
description: Extract invoice data.
structured_output: true
properties:
  moments:
    type: array
    description: Extracted invoice records
  full name: {type: string}
  tags: {type: array, items: {type: string}, uniqueItems: true}
  other: {$ref: "#/$defs/other"}
$defs:
  other: {type: [array, "null"]}
anyOf:
  - properties: {tags: {minItems: 1}}
`
	parse := func(text string) *agent.Document {
		d, err := agent.Parse("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	var got []string
	for _, p := range parse(doc).CheckProviders() {
		got = append(got, p.Pointer+" "+p.Error())
	}
	want := []string{
		"/properties/moments a.yaml:6:5: warning: the items of this array are not described: models of OpenAI and Gemini may answer with items of any kind (add items, such as items: {type: object})",
		`/properties/full name a.yaml:8:14: warning: schemas of Anthropic have no field named "full name": their models read it in words (use at most 64 letters, digits, dots, dashes and underscores)`,
		"/properties/tags/uniqueItems a.yaml:9:59: warning: schemas of Gemini have no uniqueItems: their models learn of it only when an answer is refused (say it in the description, too)",
		"/$defs/other a.yaml:12:10: warning: the items of this array are not described: models of OpenAI and Gemini may answer with items of any kind (add items, such as items: {type: object})",
		"/anyOf a.yaml:14:3: warning: schemas of OpenAI and Anthropic have no anyOf at the root: their models read it in words (move it into a property)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if problems := parse(strings.Replace(doc, "structured_output: true\n", "", 1)).CheckProviders(); len(problems) > 0 {
		t.Errorf("notes for the model's thinking: %v", problems)
	}
}
