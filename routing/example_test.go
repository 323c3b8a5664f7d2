package routing_test

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/routing"
)

// A session is classified until an agent has it; then its messages go to that agent
// without asking the classifier.
func ExampleRoute() {
	agents := []routing.Candidate{
		{Name: "bills", Description: "Invoices and due dates.", Routing: &agent.Routing{Keywords: []string{"invoice"}}},
		{Name: "people", Description: "Colleagues.", Routing: &agent.Routing{Keywords: []string{"manager"}}},
	}
	state := routing.Start("general")
	for _, message := range []string{"Good morning!", "Is the invoice of Nordwind paid?", "And when was it due?"} {
		var decision routing.Decision
		var err error
		state, decision, err = routing.Route(context.Background(), routing.Input{Message: message, State: state, Agents: agents}, routing.Rules())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(decision.Agent, state.State)
		state = state.AfterTurn(decision.Agent)
	}
	// Output:
	// general idle
	// bills executing
	// bills executing
}

// A chain asks a model only if the rules are not sure.
func ExampleChain() {
	model := scripted.New(scripted.Text("people"))
	classifier := routing.Chain(routing.Rules(), routing.NewModel(routing.Options{Model: model}))
	decision, err := classifier.Classify(context.Background(), routing.Input{
		Message: "Where does Ada sit?", State: routing.Start("general"),
		Agents: []routing.Candidate{{Name: "people", Description: "Colleagues and their offices."}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(decision.Agent, len(model.Requests()))
	// Output:
	// people 1
}
