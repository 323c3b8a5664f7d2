package evaluation_test

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/evaluation"
)

// answers is a Caller that knows the answer, and keeps the message.
type answers struct {
	value   string
	message string
}

func (a *answers) Judge(_ context.Context, _ *agent.Agent, message string) (evaluation.Answer, error) {
	a.message = message
	return evaluation.Answer{Value: json.RawMessage(a.value), InputTokens: 10, OutputTokens: 2, CostUSD: 0.5}, nil
}
