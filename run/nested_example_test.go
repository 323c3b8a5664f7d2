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

// An agent that asks another one: a tool runs the child with the context of its
// call and emits the child's events, which carry a longer path.
func ExampleStream_nested() {
	parent, err := parse("name: host\ndescription: You ask.\ntools: [ask_expert]\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	child, err := parse("name: expert\ndescription: You know.\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	base, err := tool.NewBase(llm.ToolSpec{Name: "ask_expert", Description: "Asks the expert."})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := expert{base, run.Options{Agent: child, Model: scripted.New(scripted.Text("Seven."))}}
	for e, err := range run.Stream(context.Background(), run.Options{
		Agent: parent, Tools: []tool.Tool{ask},
		Model:    scripted.New(scripted.Call("ask_expert", "{}"), scripted.Text("The expert says seven.")),
		Messages: []llm.Message{{Role: llm.User, Content: "How many?"}},
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Type == event.Text {
			fmt.Printf("%s: %s\n", e.Agent, e.Text)
		}
	}
	// Output:
	// host/expert: Seven.
	// host: The expert says seven.
}

// expert is a tool.Streamer: a tool with events of its own.
type expert struct {
	tool.Base
	options run.Options
}

func (x expert) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return x.Stream(ctx, call, func(event.Event) bool { return true })
}

func (x expert) Stream(ctx context.Context, _ tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	text, err := run.Text(func(yield func(event.Event, error) bool) {
		for e, err := range run.Stream(ctx, x.options) {
			if err == nil && !emit(e) {
				return
			}
			if !yield(e, err) {
				return
			}
		}
	})
	return tool.Result{Content: text}, err
}

// A limit ends a run; Done names it.
func ExampleStream_limit() {
	eager, err := parse("name: eager\ndescription: You search.\ntools: [search]\nlimits: {request_limit: 2}\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	search, err := tool.New("search", "Finds nothing.", func(context.Context, struct{}) (any, error) { return "nothing", nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range run.Stream(context.Background(), run.Options{
		Agent: eager, Tools: []tool.Tool{search},
		Model: scripted.NewWith(scripted.Options{Repeat: true}, scripted.Call("search", "{}")),
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if d, ok := e.Data.(*event.DoneData); ok {
			fmt.Println(d.Reason, d.Limit)
		}
	}
	// Output:
	// length request_limit
}

// What the user writes while the run is under way joins the conversation before
// the next call of the model.
func ExampleStream_steer() {
	writer, err := parse("name: writer\ndescription: You write.\ntools: [look]\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	var inbox []llm.Message
	look, err := tool.New("look", "Looks around.", func(context.Context, struct{}) (any, error) {
		inbox = append(inbox, llm.Message{Role: llm.User, Content: "In French, please."})
		return "a garden", nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := scripted.New(scripted.Call("look", "{}"), scripted.Text("Un jardin."))
	text, err := run.Text(run.Stream(context.Background(), run.Options{
		Agent: writer, Tools: []tool.Tool{look}, Model: model,
		Messages: []llm.Message{{Role: llm.User, Content: "What do you see?"}},
		Steer: func(bool) []llm.Message {
			news := inbox
			inbox = nil
			return news
		},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	for _, m := range model.Requests()[1].Messages {
		fmt.Printf("%s %q\n", m.Role, m.Content)
	}
	// Output:
	// Un jardin.
	// system "You write."
	// user "What do you see?"
	// assistant ""
	// tool "a garden"
	// user "In French, please."
}

func parse(text string) (*agent.Agent, error) {
	doc, err := agent.Parse("agent.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return agent.Compile(doc)
}
