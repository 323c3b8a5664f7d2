package simulator

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/p8-org/p8/event"
)

// The categories that a prompt may name.
const (
	wordText       = "text"
	wordTools      = "tools"
	wordActions    = "actions"
	wordStructured = "structured"
	wordChildren   = "children"
	wordError      = "error"
)

// light plays REMLight's sequence: the parts that the prompt names, or all but the
// error. An error ends a run of p8, so it comes last, after a note about it.
func (p *player) light(prompt string) {
	if wantsHelp(prompt) {
		if !p.o.NoProgress {
			p.emitData(&event.ProgressData{Step: 1, TotalSteps: 1, Label: "Displaying help", Status: inProgress})
			p.wait(1)
		}
		p.pieces(helpText, 15)
		p.done(event.ReasonStop)
		return
	}
	wanted := categories(prompt)
	p.progress(1, "Starting simulation", inProgress)
	if wanted[wordText] {
		p.progress(2, "Generating text content", inProgress)
		p.pieces(lightText, 10)
	}
	if wanted[wordTools] && !p.o.NoToolCalls {
		p.lightTools()
	}
	if wanted[wordChildren] || p.o.Children {
		p.progress(2, "Demonstrating delegation", inProgress)
		p.children()
	}
	if wanted[wordActions] && !p.o.NoActions {
		p.lightActions()
	}
	if wanted[wordStructured] {
		p.lightStructured()
	}
	if wanted[wordError] {
		p.lightError()
		return
	}
	p.progress(4, "Simulation complete", completed)
	p.done(event.ReasonStop)
}

// wantsHelp reports whether the prompt asks for help.
func wantsHelp(prompt string) bool {
	prompt = strings.ToLower(prompt)
	return prompt == "help" || strings.HasPrefix(prompt, "help ") || strings.Contains(prompt, " help")
}

// categories returns those that the prompt names; without any, and with "test all",
// all but the error and the delegations.
func categories(prompt string) map[string]bool {
	prompt = strings.ToLower(prompt)
	wanted := map[string]bool{}
	known := []string{wordText, wordTools, wordActions, wordStructured, wordChildren, wordError}
	for word := range strings.FieldsFuncSeq(prompt, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if slices.Contains(known, word) {
			wanted[word] = true
		}
	}
	if len(wanted) == 0 || strings.Contains(prompt, "test all") {
		return map[string]bool{wordText: true, wordTools: true, wordActions: true, wordStructured: true}
	}
	return wanted
}

func (p *player) lightTools() {
	p.progress(2, "Demonstrating tool calls", inProgress)
	p.call("search", object{"query": "LOOKUP simulator-demo"}, object{
		"status": "success", "query_type": "LOOKUP",
		"results": []object{{"key": "simulator-demo", "title": "A page that is not there"}},
	})
	p.call("action", object{"type": "observation", "payload": object{"confidence": 0.92}}, object{"status": "success"})
}

func (p *player) lightActions() {
	p.progress(3, "Demonstrating actions", inProgress)
	for _, a := range []struct {
		kind    string
		payload object
	}{
		{"observation", object{"confidence": 0.92, "sources": []string{"doc-1", "doc-2"}, "session_name": "Simulator session"}},
		{"elicit", object{"question": "Which part shall be played next?", "options": []string{wordText, wordTools, wordActions}, "timeout_seconds": 30}},
		{"delegate", object{"target_agent": "worker-agent", "task": "Sum up what was played", "context": object{"source": LightAgent}}},
		{"patch_schema", object{"patches": []object{{"op": "add", "path": "/properties/summary", "value": object{"type": "string"}}}}},
	} {
		p.emitData(&event.ActionData{ActionType: a.kind, Payload: raw(a.payload)})
		p.wait(1)
	}
}

func (p *player) lightStructured() {
	p.progress(3, "Demonstrating structured output", inProgress)
	result := object{
		"analysis": object{"summary": "A structured answer is one JSON object.", "topics": []string{"events", "streams"}, "score": 0.87},
		"metadata": object{"timestamp": p.o.Now().UTC().Format(time.RFC3339)},
	}
	p.emitData(&event.ToolCallData{
		Name: "structured_output", ID: p.agent + "_structured_output", Status: event.ToolCompleted, Structured: true,
		Arguments: raw(object{"input_text": "Demonstrate structured output"}), Result: raw(result), Content: content(result),
	})
	p.wait(1)
	p.pieces("\n```json\n"+content(result)+"\n```\n", 10)
}

func (p *player) lightError() {
	p.progress(3, "Demonstrating an error", inProgress)
	p.pieces("\nThe error that follows was asked for. A client shows it and may try again.\n", 10)
	p.progress(4, "Simulation ends with an error", failed)
	p.emitData(&event.ErrorData{
		Code: simulatedError, Message: "this error was asked for; nothing is wrong", HTTPStatus: http.StatusInternalServerError,
		Details: map[string]any{
			"error_type": "demonstration", "retry_after_ms": 1000, "suggestion": "send another prompt, such as help",
		},
		Recoverable: true,
	})
	p.done(event.ReasonError)
}
