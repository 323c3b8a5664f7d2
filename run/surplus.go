package run

import (
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
)

// The calls that a run makes at most, where neither its document nor its options say
// less.
const (
	defaultStepToolCalls = 250
	defaultToolCalls     = 2000
)

// limits are the document's, with the operator's bounds on tool calls: the smaller of
// the two counts.
func (r *runner) limits(parent *Scope) agent.Limits {
	l := r.Agent.Limits
	l.ToolCalls = least(l.ToolCalls, positive(r.ToolCalls, defaultToolCalls))
	if parent != nil {
		r.StepToolCalls = positive(r.StepToolCalls, parent.stepCalls)
	}
	r.StepToolCalls = positive(r.StepToolCalls, defaultStepToolCalls)
	l.StepToolCalls = least(l.StepToolCalls, r.StepToolCalls)
	return l
}

// least is the smaller of two bounds; 0 is none.
func least(a, b int) int {
	if a > 0 && a < b {
		return a
	}
	return b
}

// full reports whether the model's answer need not be read on: it has as many calls
// beyond the limit as within it. The model is told of those one by one, and not of the
// rest.
func (s *step) full() bool { return s.most > 0 && len(s.calls) >= 2*s.most }

// leaveOut ends a call that is beyond the limit of its step; the model reads why.
func (r *runner) leaveOut(c *call) error {
	most := r.scope.Budget.limits.StepToolCalls
	err := r.warn(event.WarningData{
		Code:    event.CodeToolCallsLeftOut,
		Message: fmt.Sprintf("the model asked for more than %d tool calls in one answer; the others were not made", most),
	})
	if err != nil {
		return err
	}
	return r.fail(c, fmt.Sprintf(
		"this call was not made: at most %d tool calls are made of one answer; make the rest in your next answers, or fewer", most))
}
