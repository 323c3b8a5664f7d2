package run

import (
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// charge charges the cost of the step.
func (r *runner) charge() {
	r.step.bill = r.bill(&r.step, r.req.Messages)
	r.scope.Budget.charge(r.step.bill)
	r.step.bill.Requests = 1 // charged before it was sent
}

// bill returns what a response to the messages cost. A refused request costs nothing; a
// response that broke off costs what was sent.
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

// price returns the cost of a model's usage in tokens and, if prices are known, in money.
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

// consumed returns what the provider counted, or an estimate if it counts nothing, so
// that limits and prices hold for every provider. The output of a response that broke off
// is estimated too: most providers count at the end.
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
