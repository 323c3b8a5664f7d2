// Package simulator is an agent without a model: it plays scripted events, so that a
// front end can be built, tested and loaded without cost (REM's and REMLight's
// simulators).
//
//	for ev, err := range simulator.Events(ctx, simulator.Agent, "demo", simulator.Options{}) { … }
//
// There are two. [Agent] plays one sequence with every kind of event (REM's);
// [LightAgent] plays the parts that words of the prompt name (REMLight's; "help" lists
// them). Both have the same switches. Each is a field of [Options], a parameter
// ([ParseOptions]: include_reasoning=false), and a word of the prompt in the form of
// the parameter, which wins.
//
// [Script] plays the same for package chat, where the simulator runs like any agent:
// stored, in every protocol.
//
// The switch include_children adds two delegations: to an agent that delegates
// further, and to one with a structured answer.
package simulator

import (
	"context"
	"iter"
	"strings"

	"github.com/p8-org/p8/event"
)

// The agents, by name.
const (
	// Agent plays the whole sequence (REM).
	Agent = "simulator"
	// LightAgent plays the parts that the prompt names (REMLight).
	LightAgent = "rem-simulator"
)

// Model is the model in the metadata.
const Model = "simulator-v1.0.0"

// Agents are the names of the simulators.
func Agents() []string { return []string{Agent, LightAgent} }

// Events plays the named simulator, [Agent] for any name but [LightAgent]'s. The last
// event is Done. The error is ctx's, or an [*OptionError] before the first event: a
// switch in the prompt has an invalid value.
func Events(ctx context.Context, agentName, prompt string, o Options) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		words, o, err := promptOptions(prompt, o)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		newPlayer(ctx, yield, agentName, o).play(words)
	}
}

// Script is a simulator for package chat. A switch with an invalid value fails the run
// with an event that names the switch and the allowed values.
func Script(agentName string) func(ctx context.Context, input string, options map[string]string) iter.Seq2[event.Event, error] {
	return func(ctx context.Context, input string, options map[string]string) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			var words []string
			o, err := ParseOptions(options)
			if err == nil {
				words, o, err = promptOptions(input, o)
			}
			p := newPlayer(ctx, yield, agentName, o)
			if err != nil {
				p.emitData(refusal(err))
				p.done(event.ReasonError)
				return
			}
			p.play(words)
		}
	}
}

// play plays the parts that the options and the prompt name.
func (p *player) play(words []string) {
	demo, prompt := p.o.Demo, strings.Join(words, " ")
	if demo == "" && p.agent != LightAgent {
		if demo = demoOf(words); demo != "" {
			prompt = ""
		}
	}
	switch {
	case demo == DemoMinimal:
		p.minimal(prompt)
	case demo == DemoError:
		p.failing()
	case p.agent == LightAgent:
		p.light(prompt)
	default:
		p.full(prompt)
	}
}

// demoOf returns the demo that the whole prompt names: "minimal", "error demo".
func demoOf(words []string) string {
	if len(words) == 2 && strings.EqualFold(words[1], "demo") {
		words = words[:1]
	}
	if len(words) != 1 {
		return ""
	}
	switch demo := strings.ToLower(words[0]); demo {
	case DemoMinimal, DemoError:
		return demo
	}
	return ""
}
