package run

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// outputRetries is how often an invalid structured answer goes back to the model.
const outputRetries = 2

// output describes how a structured agent answers.
type output struct {
	mode  string // ModeNative, ModeTool, or "" for an agent that just talks
	tries int
}

// OutputError is the error of a run whose structured answer stayed invalid.
type OutputError struct {
	// Problems are the errors of the last answer, each with the JSON pointer of its
	// place.
	Problems []string
}

// Error returns the first problem and the number of the others.
func (e *OutputError) Error() string {
	s := "the model's answer does not follow the agent's output schema: " + e.Problems[0]
	if n := len(e.Problems) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

func (r *runner) prepareOutput() error {
	if !r.Agent.Structured {
		return nil
	}
	r.output.mode = r.StructuredMode
	if r.output.mode == "" {
		r.output.mode = ModeTool
		if r.Model.Capabilities().NativeOutput {
			r.output.mode = ModeNative
		}
	}
	switch r.output.mode {
	case ModeNative:
		r.req.Output = r.Agent.Output
	case ModeTool:
		if r.findTool(llm.OutputTool) != nil {
			return fmt.Errorf("run: a tool of a structured agent is named %s", llm.OutputTool)
		}
		r.req.Tools = append(r.req.Tools, llm.ToolSpec{
			Name:        llm.OutputTool,
			Description: "Give the final answer. Call this once, when the answer is complete.",
			Parameters:  r.Agent.Output.Schema,
		})
	default:
		return fmt.Errorf("run: structured mode %q is neither native nor tool", r.output.mode)
	}
	return nil
}

// isCall reports whether c is the structured answer rather than a tool call.
func (o *output) isCall(c *call) bool { return o.mode == ModeTool && c.name == llm.OutputTool }

// answerStructured executes the tool calls of the step, then accepts the answer if there
// is one.
func (r *runner) answerStructured() (*event.DoneData, error) {
	end, err := r.execute(r.step.calls)
	if err != nil {
		return nil, err
	}
	if end != nil && (end.Reason == event.ReasonPaused || end.Reason == event.ReasonToolCalls) {
		return end, nil
	}
	c, text := r.candidate()
	if text == "" && len(r.step.calls) > 0 {
		return end, nil
	}
	problems, err := r.Agent.ValidateOutput(r.ctx, []byte(text))
	if err != nil {
		return nil, err
	}
	if len(problems) == 0 {
		return r.accept(text, end)
	}
	if end != nil {
		return end, nil
	}
	if r.output.tries == outputRetries {
		return nil, &OutputError{Problems: problems}
	}
	r.output.tries++
	r.reject(c, problems)
	return nil, nil
}

// accept shows a valid answer, unless it was shown before, and calls the chained tool.
// end ends the run in any case.
func (r *runner) accept(text string, end *event.DoneData) (*event.DoneData, error) {
	if !r.wasShown(shownAnswer) {
		if end == nil {
			if goOn, err := r.steer(true); goOn || err != nil {
				return nil, err
			}
		}
		if err := r.emit(event.NewText(text)); err != nil {
			return nil, err
		}
	}
	if r.Chained != nil {
		r.keepStep()
		r.keep(Entry{Shown: shownAnswer})
	}
	answer := &event.DoneData{Reason: event.ReasonStop, Output: json.RawMessage(text)}
	if end != nil {
		answer.TransferTo = end.TransferTo
	}
	return r.chain(answer)
}

// candidate returns the step's structured answer: the arguments of final_result or, if
// the model called nothing, its text.
func (r *runner) candidate() (*call, string) {
	for _, c := range r.step.calls {
		if r.output.isCall(c) {
			return c, strings.TrimSpace(c.args.String())
		}
	}
	if len(r.step.calls) > 0 {
		return nil, ""
	}
	return nil, strings.TrimSpace(r.step.text.String())
}

// reject sends an invalid answer back to the model with all its errors.
func (r *runner) reject(c *call, problems []string) {
	text := "The answer does not follow the schema:\n- " + strings.Join(problems, "\n- ") +
		"\nAnswer again with one JSON object that follows it."
	r.keepStep()
	for _, other := range r.step.calls {
		if r.output.isCall(other) {
			r.answerOutput(other, text)
		}
	}
	if c == nil {
		m := llm.Message{Role: llm.User, Content: text}
		r.req.Messages = append(r.req.Messages, m)
		r.keepMessage(m)
	}
}
