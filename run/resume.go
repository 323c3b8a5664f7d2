package run

import (
	"context"
	"errors"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// past is what the journal has of a call, or, under the id "", of the step itself.
type past struct {
	result *tool.Result
	row    string
	shown  []string
}

// takeUp rebuilds the run from its journal: the conversation, its cost, and the part of
// the last step that was done.
func (r *runner) takeUp() {
	if r.Journal == nil {
		return
	}
	open := false
	for _, e := range r.Journal.Entries(r.scope.Thread) {
		r.takenUp = true
		if e.Usage != nil {
			r.recallSpent(&e)
		}
		if e.Message == nil {
			r.recall(e)
			continue
		}
		if open {
			r.closeStep()
		}
		m := *e.Message
		r.req.Messages = append(r.req.Messages, m)
		if open = m.Role == llm.Assistant; open {
			r.openStep(&m)
		}
	}
	if r.half = open; open {
		r.restore()
	}
}

// openStep restores the model's response of the last step.
func (r *runner) openStep(m *llm.Message) {
	r.step.reset(r.Model.Name())
	r.step.kept = true
	r.step.text.Add(m.Content)
	for i, t := range m.ToolCalls {
		c := &call{index: i, id: t.ID, name: t.Name, signature: t.Signature}
		c.args.Add(t.Arguments)
		r.step.calls = append(r.step.calls, c)
	}
	r.past = make(map[string]past)
	r.childSpoke = r.childSpoke && len(m.ToolCalls) == 0
}

// recall takes in a journal entry of a call.
func (r *runner) recall(e Entry) {
	p := r.past[e.ToolCallID]
	if e.Shown != "" {
		p.shown = append(p.shown, e.Shown)
		r.childSpoke = r.childSpoke || e.Shown == shownText && r.Agent.ChildText == agent.ChildReplace
	}
	if e.Result != nil {
		p.result, p.row = e.Result, e.MessageID
		r.observe(e.Result)
		if e.Result.Failed && slices.Contains(p.shown, shownText) {
			p.shown = slices.DeleteFunc(p.shown, func(name string) bool { return name == shownText })
			r.childSpoke = false
			for id, other := range r.past {
				r.childSpoke = r.childSpoke || id != e.ToolCallID && r.Agent.ChildText == agent.ChildReplace && slices.Contains(other.shown, shownText)
			}
		}
	}
	if r.past != nil {
		r.past[e.ToolCallID] = p
	}
}

// restore restores the calls of the step.
func (r *runner) restore() {
	for _, c := range r.step.calls {
		r.remind(c)
	}
}

// remind restores one call.
func (r *runner) remind(c *call) {
	p := r.past[c.id]
	c.shown = p.shown
	if p.result != nil {
		c.Result, c.row, c.reported = *p.result, p.row, true
	}
}

// closeStep adds the results of a step to the conversation when the next step follows.
func (r *runner) closeStep() {
	r.restore()
	for _, c := range r.step.calls {
		r.addResult(c, c.Content)
	}
	if _, text := r.candidate(); r.Agent.Structured && text != "" {
		if problems, err := r.Agent.ValidateOutput(r.ctx, []byte(text)); err == nil && len(problems) > 0 {
			r.output.tries++
		}
	}
}

// interrupts reports whether the run ends in order to be resumed.
func (r *runner) interrupts() bool {
	return r.Journal != nil && errors.Is(context.Cause(r.ctx), ErrInterrupted)
}

// wasShown reports whether the journal has an event of the step as shown.
func (r *runner) wasShown(name string) bool {
	return slices.Contains(r.past[""].shown, name)
}

// steer adds the user's new messages to the conversation, and reports whether there were
// any. With last, the run ends if it reports false.
func (r *runner) steer(last bool) (bool, error) {
	if r.Steer == nil {
		return false, nil
	}
	said := r.Steer(last)
	if len(said) == 0 {
		return false, nil
	}
	if last {
		if err := r.rememberLast(); err != nil {
			return false, err
		}
	}
	for _, m := range said {
		r.req.Messages = append(r.req.Messages, m)
		r.keepMessage(m)
	}
	return true, nil
}

// rememberLast adds an answer to the conversation, because the run does not end with it.
func (r *runner) rememberLast() error {
	if err := r.readBack(); err != nil {
		return err
	}
	if !r.Agent.Structured && r.step.text.String() != "" {
		r.req.Messages = append(r.req.Messages, r.step.message())
		r.step.held = 0 // the conversation counts it now
		r.keepStep()
	}
	for _, c := range r.step.calls { // the structured answer
		if r.output.isCall(c) {
			r.keepStep()
			r.answerOutput(c, "The answer was received.")
		}
	}
	if r.Agent.Structured {
		r.keepStep()
	}
	return nil
}

// answerOutput adds the result of a structured answer that is a call.
func (r *runner) answerOutput(c *call, text string) {
	c.Result = tool.Result{Content: text}
	r.addResult(c, text)
	r.keepResult(c)
}
