package run_test

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// An agent with a tool: the document says who it is, the tool is a Go
// function. A real program would use a model of llm/openai.
func Example() {
	doc, err := agent.Parse("time.yaml", []byte(`
name: clock
description: You tell the time. Use the now tool.
tools: [now]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	clock, err := agent.Compile(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	type in struct {
		Zone string `json:"zone"`
	}
	now, err := tool.New("now", "The time in a zone.", func(_ context.Context, in in) (any, error) {
		return map[string]string{"time": "12:00", "zone": in.Zone}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := scripted.New(
		scripted.Call("now", `{"zone":"Europe/Oslo"}`),
		scripted.Text("It is", " noon in Oslo."),
	)
	for e, err := range run.Stream(context.Background(), run.Options{
		Agent: clock, Model: model, Tools: []tool.Tool{now},
		Messages: []llm.Message{{Role: llm.User, Content: "What time is it in Oslo?"}},
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch d := e.Data.(type) {
		case *event.ToolCallData:
			fmt.Println(d.Name, d.Status)
		case *event.DoneData:
			fmt.Println(d.Reason)
		default:
			if e.Type == event.Text {
				fmt.Printf("text %q\n", e.Text)
			}
		}
	}
	// Output:
	// now started
	// now executing
	// now completed
	// text "It is"
	// text " noon in Oslo."
	// stop
}

// A structured answer: the document's properties are the schema, the answer is
// held against it and decoded into a Go type.
func ExampleAs() {
	doc, err := agent.Parse("city.yaml", []byte(`
name: geographer
description: You know cities.
structured_output: true
properties:
  city: {type: string}
  people: {type: integer, minimum: 0}
required: [city, people]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	geographer, err := agent.Compile(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	type city struct {
		City   string `json:"city"`
		People int    `json:"people"`
	}
	model := scripted.New(
		scripted.Text(`{"city":"Oslo","people":-1}`), // sent back: people is below 0
		scripted.Text(`{"city":"Oslo","people":717710}`),
	)
	answer, err := run.As[city](run.Stream(context.Background(), run.Options{
		Agent: geographer, Model: model,
		Messages: []llm.Message{{Role: llm.User, Content: "Tell me about Oslo."}},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.City, answer.People)
	// Output: Oslo 717710
}

// A chained tool: what the agent extracts is handed on to a tool, without another
// call of the model. The answer and the tool's result end the run together.
func ExampleStream_chainedTool() {
	doc, err := agent.Parse("invoices.yaml", []byte(`
name: invoices
description: Extract the invoices of the document.
structured_output: true
chained_tool: save_moments
properties:
  moments: {type: array, items: {type: string}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	invoices, err := agent.Compile(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	type in struct {
		Moments []string `json:"moments"`
	}
	save, err := tool.New("save_moments", "Keeps moments.", func(_ context.Context, in in) (any, error) {
		return map[string]int{"saved": len(in.Moments)}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range run.Stream(context.Background(), run.Options{
		Agent: invoices, Chained: save,
		Model:    scripted.New(scripted.Text(`{"moments":["Invoice 7","Invoice 8"]}`)),
		Messages: []llm.Message{{Role: llm.User, Content: "Read the mail."}},
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch d := e.Data.(type) {
		case *event.ToolCallData:
			fmt.Println(d.Name, d.Status)
		case *event.DoneData:
			fmt.Printf("%s\n%s %s\n", d.Output, d.ChainedTool, d.ChainedResult)
		}
	}
	// Output:
	// save_moments executing
	// save_moments completed
	// {"moments":["Invoice 7","Invoice 8"]}
	// save_moments {"saved":2}
}
