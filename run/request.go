package run

import (
	"time"

	"github.com/p8-org/p8/event"
)

// begins notes that a request to the model begins.
func (r *runner) begins() {
	if r.ModelCalls {
		r.asked, r.replied = r.Now(), time.Time{}
	}
}

// speaks notes that the model, or the one that took over from it, begins to answer.
func (r *runner) speaks() {
	if r.ModelCalls && r.replied.IsZero() {
		r.replied = r.Now()
	}
}

// settle charges the response of the model and reports the request.
func (r *runner) settle(failed bool) error {
	r.charge()
	if !r.ModelCalls {
		return nil
	}
	u := sum(r.step.bill)
	d := &event.ModelCallData{
		Model: r.step.model, StartedAt: r.asked.UTC().Truncate(time.Microsecond), DurationMS: r.Now().Sub(r.asked).Milliseconds(),
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens, ReasoningTokens: u.ReasoningTokens,
		CostUSD: u.CostUSD, Failed: failed && r.ctx.Err() == nil,
	}
	if !r.replied.IsZero() {
		d.FirstTokenMS = r.replied.Sub(r.asked).Milliseconds()
	}
	return r.emit(event.New(d))
}
