package run

import (
	"cmp"

	"p8/event"
	"p8/llm"
)

// charge books what the step cost.
func (r *runner) charge() { r.scope.Budget.charge(r.bill(&r.step, r.req.Messages)) }

// bill is what a response to the messages cost, by the prices of the model that
// gave it.
func (o *Options) bill(s *step, messages []llm.Message) event.UsageData {
	u := s.consumed(messages)
	bill := event.UsageData{
		InputTokens: u.Input, OutputTokens: u.Output,
		CachedTokens: u.Cached, ReasoningTokens: u.Reasoning,
	}
	if o.Cost != nil {
		bill.CostUSD = o.Cost(cmp.Or(s.model, o.Model.Name()), u)
	}
	return bill
}

// consumed is what the provider counted. One that does not count is estimated,
// so that limits, prices and records hold for it too.
func (s *step) consumed(messages []llm.Message) llm.Usage {
	if s.usage != (llm.Usage{}) {
		return s.usage
	}
	var u llm.Usage
	for i := range messages {
		u.Input += llm.EstimateTokens(messages[i].Content)
	}
	u.Output = llm.EstimateTokens(s.text.String())
	for _, c := range s.calls {
		u.Output += llm.EstimateTokens(c.args.String())
	}
	return u
}
