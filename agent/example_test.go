package agent_test

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/agent"
)

// A Go struct is the schema of a structured answer.
func ExampleFromStruct() {
	type verdict struct {
		_     struct{} `agent:"judge" prompt:"You judge essays."`
		Grade string   `json:"grade" jsonschema:"the grade" enum:"A,B,C"`
		Score float64  `json:"score,omitempty" minimum:"0" maximum:"1"`
	}
	doc, err := agent.FromStruct[verdict](agent.Fields{StructuredOutput: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := doc.MarshalYAML()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// type: object
	// name: judge
	// description: You judge essays.
	// properties:
	//   grade:
	//     type: string
	//     description: the grade
	//     enum:
	//       - A
	//       - B
	//       - C
	//   score:
	//     type: number
	//     minimum: 0
	//     maximum: 1
	// required:
	//   - grade
	// additionalProperties: false
	// structured_output: true
}

// A compiled agent checks answers against its output schema. Every problem is
// reported at once, in words for the model.
func ExampleAgent_ValidateOutput() {
	judge, err := compiled("judge.yaml", `
name: judge
description: You judge essays.
structured_output: true
properties:
  grade: {type: string, enum: [A, B, C]}
  score: {type: number, maximum: 1}
required: [grade, score]
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	problems, err := judge.ValidateOutput(context.Background(), []byte(`{"grade": "D", "score": 7}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// /grade: value must be one of 'A', 'B', 'C'
	// /score: maximum: got 7, want 1
}

// The prompt of a nested document, as REM and REMLight write them, begins with
// what is known of the user.
func ExampleAgent_SystemPrompt() {
	tutor, err := compiled("tutor.yaml", `
type: object
description: You teach chemistry.
properties: {}
json_schema_extra:
  name: tutor
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tutor.SystemPrompt("Date: 2026-11-22\nUser: Ada"))
	// Output:
	// ## User Context
	// Date: 2026-11-22
	// User: Ada
	//
	// You teach chemistry.
}

// CheckTools reports declared tools that no one has.
func ExampleDocument_CheckTools() {
	doc, err := agent.Parse("clock.yaml", []byte("name: clock\ndescription: You tell the time.\ntools: [naw]\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(doc.CheckTools([]string{"now", "search"}).Detail())
	// Output:
	// clock.yaml:3:9: warning: the tool "naw" does not exist here and is left out
	//   2 | description: You tell the time.
	// > 3 | tools: [naw]
	//     |         ^
	//   hint: did you mean now?
}

func compiled(file, text string) (*agent.Agent, error) {
	doc, err := agent.Parse(file, []byte(text))
	if err != nil {
		return nil, err
	}
	return agent.Compile(doc)
}
