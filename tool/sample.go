package tool

import (
	"context"
	"errors"

	"github.com/p8-org/p8/llm"
)

// Sampler lends the run's model to a tool: an MCP server may ask it. The usage is
// charged to the run and counts towards its limits.
type Sampler interface {
	// Sample runs one request to its end. It returns the model's name and its answer,
	// an assistant message.
	Sample(ctx context.Context, req *llm.Request) (model string, answer llm.Message, finish llm.Finish, err error)
}

type samplerKey struct{}

// WithSampler lends s to the calls made with the context.
func WithSampler(ctx context.Context, s Sampler) context.Context {
	return context.WithValue(ctx, samplerKey{}, s)
}

// SamplerFrom returns the sampler of the call, nil if the run lends none.
func SamplerFrom(ctx context.Context) Sampler {
	s, _ := ctx.Value(samplerKey{}).(Sampler)
	return s
}

// notYet is the sampler before a run begins: servers learn that they may ask, and get
// no answer.
type notYet struct{}

func (notYet) Sample(context.Context, *llm.Request) (string, llm.Message, llm.Finish, error) {
	return "", llm.Message{}, "", errors.New("tool: the run has not begun")
}
