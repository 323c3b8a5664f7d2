package run

import (
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
)

// The bounds of tool calls that documents and options can lower.
const (
	defaultStepToolCalls = 250
	defaultToolCalls     = 2000
)

// limits returns the document's limits with the operator's bounds on tool calls; the
// smaller bound counts.
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

// least returns the smaller of two bounds; 0 is no bound.
func least(a, b int) int {
	if a > 0 && a < b {
		return a
	}
	return b
}

// full reports whether to stop reading the response: it has twice as many calls as the
// limit allows. The calls above the limit that were read get a result for the model; the
// rest get none.
func (s *step) full() bool { return s.most > 0 && len(s.calls) >= 2*s.most }

// leaveOut ends a call above the limit of its step. Its result says why.
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
