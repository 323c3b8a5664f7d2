package run

import (
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

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
