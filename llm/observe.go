package llm

import (
	"context"
	"iter"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/telemetry"
)

// Observe returns a model whose requests are operations of the context's telemetry. cost
// returns the price of a request in US dollars; nil means that no price is known. The models of a
// Registry are observed already.
func Observe(m Model, cost func(model string, u Usage) float64) Model {
	return &observed{m, cost}
}

type observed struct {
	Model
	cost func(model string, u Usage) float64
}

// Stream runs one request.
func (o *observed) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	if telemetry.From(ctx) == nil {
		return o.Model.Stream(ctx, req)
	}
	return func(yield func(Chunk, error) bool) {
		provider, model, _ := strings.Cut(o.Name(), ":")
		ctx, op := telemetry.Start(ctx, telemetry.Chat, model)
		a := answer{contents: op.Content()}
		var failed error
		defer func() { o.end(op, &a, failed) }() // also if the reader panics
		describe(ctx, op, req, provider, model)
		for chunk, err := range o.Model.Stream(ctx, req) {
			failed = err
			a.add(&chunk)
			if chunk.Kind == ChunkText || chunk.Kind == ChunkReasoning || chunk.Kind == ChunkToolCall {
				op.Chunk()
			}
			if !yield(chunk, err) {
				if failed == nil {
					failed = ctx.Err()
				}
				return
			}
		}
	}
}

// end ends the operation of a request.
func (o *observed) end(op *telemetry.Op, a *answer, failed error) {
	if a.finish != "" {
		op.Strings(telemetry.FinishReasons, string(a.finish))
	}
	u := telemetry.Usage{Input: a.usage.Input, Output: a.usage.Output, Cached: a.usage.Cached, Reasoning: a.usage.Reasoning}
	if o.cost != nil {
		u.USD = o.cost(o.Name(), a.usage)
	}
	op.Used(u)
	if a.contents {
		op.Messages(telemetry.OutputMessages, []telemetry.Message{a.message()})
	}
	op.End(failed)
}

// describe sets what is known of a request before it is sent.
func describe(ctx context.Context, op *telemetry.Op, req *Request, provider, model string) {
	op.String(telemetry.Provider, standardProvider(provider))
	op.String(telemetry.RequestModel, model)
	if !op.Recording() {
		return
	}
	if id, err := identity.From(ctx); err == nil {
		op.String(telemetry.Conversation, id.SessionID)
		op.String(telemetry.UserID, id.UserID)
	}
	op.Bool(telemetry.RequestStream, true)
	if t := req.Settings.Temperature; t != nil {
		op.Float(telemetry.Temperature, *t)
	}
	if p := req.Settings.TopP; p != nil {
		op.Float(telemetry.TopP, *p)
	}
	if n := req.Settings.MaxTokens; n > 0 {
		op.Int(telemetry.MaxTokens, n)
	}
	if !op.Content() {
		return
	}
	messages := make([]telemetry.Message, len(req.Messages))
	for i := range req.Messages {
		messages[i] = observedMessage(&req.Messages[i])
	}
	op.Messages(telemetry.InputMessages, messages)
}

func observedMessage(m *Message) telemetry.Message {
	out := telemetry.Message{Role: string(m.Role), Text: m.Content, CallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, telemetry.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out
}

// standardProvider returns the name that OpenTelemetry has for a provider.
func standardProvider(name string) string {
	switch name {
	case "azure":
		return "azure.ai.openai"
	case "gemini":
		return "gcp.gemini"
	case "mistral":
		return "mistral_ai"
	case "xai":
		return "x_ai"
	}
	return name
}

// answer gathers what an operation says about the answer of a model.
type answer struct {
	contents bool
	usage    Usage
	finish   Finish
	text     strings.Builder
	calls    []telemetry.Call
	written  []*strings.Builder // the arguments of the calls
	indexes  []int
}

func (a *answer) add(c *Chunk) {
	switch c.Kind {
	case ChunkUsage:
		a.usage = c.Usage
	case ChunkFinish:
		a.finish = c.Finish
	case ChunkText:
		if a.contents {
			a.text.WriteString(c.Text)
		}
	case ChunkToolCall:
		if a.contents {
			a.addCall(c)
		}
	}
}

func (a *answer) addCall(c *Chunk) {
	for i, index := range a.indexes {
		if index == c.Call {
			a.written[i].WriteString(c.Text)
			return
		}
	}
	first := new(strings.Builder)
	first.WriteString(c.Text)
	a.indexes, a.written = append(a.indexes, c.Call), append(a.written, first)
	a.calls = append(a.calls, telemetry.Call{ID: c.ID, Name: c.Name})
}

func (a *answer) message() telemetry.Message {
	for i := range a.calls {
		a.calls[i].Arguments = a.written[i].String()
	}
	return telemetry.Message{Role: string(Assistant), Text: a.text.String(), Calls: a.calls}
}
