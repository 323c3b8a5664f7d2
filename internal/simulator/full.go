package simulator

import (
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
)

// full plays REM's sequence. Its tool calls have one more stage, as in every run of
// p8: executing, when the arguments are complete.
func (p *player) full(prompt string) {
	if !p.o.NoReasoning {
		for _, thought := range thoughts {
			p.reasoning(thought)
		}
	}
	p.progress(1, labels[0], inProgress)
	if !p.o.NoToolCalls {
		p.call("search_knowledge", object{"query": "SSE streaming best practices"}, "Retrieved data for search_knowledge")
		p.call("format_response", object{"style": "markdown", "include_examples": true}, "Retrieved data for format_response")
	}
	if p.o.Children {
		p.children()
	}
	p.progress(2, labels[1], inProgress)
	p.groups(article(prompt), 20)
	p.progress(3, labels[2], inProgress)
	if !p.o.NoMetadata {
		p.metadata(prompt)
	}
	p.progress(4, labels[3], inProgress)
	if !p.o.NoActions {
		p.feedback()
	}
	if !p.o.NoProgress {
		for i, label := range labels {
			p.emitData(&event.ProgressData{Step: i + 1, TotalSteps: steps, Label: label, Status: completed})
			p.wait(0.5)
		}
	}
	p.done(event.ReasonStop)
}

// labels are the labels of the four steps.
var labels = [steps]string{"Initializing response", "Generating content", "Formatting output", "Preparing actions"}

// metadata describes a realistic answer.
func (p *player) metadata(prompt string) {
	confidence := 0.95
	p.emitData(&event.MetadataData{
		AgentSchema: p.agent, RespondingAgent: p.agent, SessionName: "SSE Demo Session",
		Confidence: &confidence, Sources: []string{"docs/events.md", "docs/http-api.md"}, Flags: []string{"demo_mode"},
		ModelVersion: Model, TokenCount: p.stage.words,
		LatencyMS: int64(max(p.delay, 0)/time.Millisecond) * int64(p.stage.words),
		Extra:     map[string]any{"prompt_length": utf8.RuneCountInString(prompt)},
	})
	p.wait(1)
}

// feedback shows a card to the user; no run waits for an answer.
func (p *player) feedback() {
	const question = "Was this SSE demonstration helpful?"
	submit := func(id, title, style, rating string) object {
		return object{"type": "Action.Submit", "id": id, "title": title, "style": style, "data": object{"rating": rating}}
	}
	choice := func(title, value string) object { return object{"title": title, "value": value} }
	p.emitData(&event.ActionRequestData{Message: question, Card: raw(object{
		"id": p.shortID("feedback-"), "prompt": question, "display_style": "inline", "timeout_ms": 60000,
		"fallback_text": "Tell us whether this demonstration was helpful.",
		"actions": []object{
			submit("helpful-yes", "Yes", "positive", "yes"),
			submit("helpful-somewhat", "Partly", "default", "somewhat"),
			submit("helpful-no", "No", "secondary", "no"),
		},
		"inputs": []object{
			{
				"type": "Input.Text", "id": "comments", "label": "Comments", "placeholder": "What was missing?",
				"is_required": false, "is_multiline": true, "max_length": 500,
			},
			{
				"type": "Input.ChoiceSet", "id": "use_case", "label": "What do you use it for?", "is_required": false,
				"is_multi_select": false, "choices": []object{
					choice("Building a front end", "frontend"), choice("Testing", "testing"),
					choice("Learning", "learning"), choice("Something else", "other"),
				},
			},
		},
	})})
	p.wait(1)
}
