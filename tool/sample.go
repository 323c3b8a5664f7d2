package tool

import (
	"context"
	"errors"

	"github.com/p8-org/p8/llm"
)

// Sampler is the model of the run that a call belongs to, lent to the tool: an
// MCP server may ask it. What it costs is charged to the run, whose limits hold.
type Sampler interface {
	// Sample runs one request to its end. It gives the model's name and its answer,
	// an assistant message.
	Sample(ctx context.Context, req *llm.Request) (model string, answer llm.Message, finish llm.Finish, err error)
}

type samplerKey struct{}

// WithSampler lends s to the calls made with the context.
func WithSampler(ctx context.Context, s Sampler) context.Context {
	return context.WithValue(ctx, samplerKey{}, s)
}

// SamplerFrom is the sampler of the call, nil when the run lends none.
func SamplerFrom(ctx context.Context) Sampler {
	s, _ := ctx.Value(samplerKey{}).(Sampler)
	return s
}

// notYet is the model of a run that has not begun: servers learn that they may
// ask, and get no answer.
type notYet struct{}

func (notYet) Sample(context.Context, *llm.Request) (string, llm.Message, llm.Finish, error) {
	return "", llm.Message{}, "", errors.New("tool: the run has not begun")
}
