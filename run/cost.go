package run

import (
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// charge books what the step cost.
func (r *runner) charge() {
	r.step.bill = r.bill(&r.step, r.req.Messages)
	r.scope.Budget.charge(r.step.bill)
	r.step.bill.Requests = 1 // charged before it was sent
}

// bill is what a response to the messages cost. A refused request costs nothing, a
// broken answer does.
func (o *Options) bill(s *step, messages []llm.Message) event.UsageData {
	var bill event.UsageData
	for _, p := range s.past {
		bill.Add(o.price(p.model, p.usage))
	}
	if s.begun {
		bill.Add(o.price(s.model, s.consumed(messages)))
	}
	return bill
}

// price is the cost of a model's usage, in tokens and, where prices are known, in
// money.
func (o *Options) price(model string, u llm.Usage) event.UsageData {
	bill := event.UsageData{
		InputTokens: u.Input, OutputTokens: u.Output,
		CachedTokens: u.Cached, ReasoningTokens: u.Reasoning,
	}
	if o.Cost != nil {
		bill.CostUSD = o.Cost(model, u)
	}
	return bill
}

// consumed is what the provider counted. One that does not count is estimated,
// so that limits, prices and records hold for it too; and so is what was written
// of an answer that broke off, as most providers count that at its end.
func (s *step) consumed(messages []llm.Message) llm.Usage {
	u := s.usage
	if u != (llm.Usage{}) && s.finish != "" {
		return u
	}
	if u == (llm.Usage{}) {
		for i := range messages {
			u.Input += llm.EstimateTokens(messages[i].Content)
		}
	}
	written := llm.EstimateTokens(s.text.String())
	for _, c := range s.calls {
		written += llm.EstimateTokens(c.args.String())
	}
	u.Output = max(u.Output, written)
	return u
}
