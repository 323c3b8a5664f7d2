package embed

import (
	"context"
	"strings"

	"github.com/p8-org/p8/telemetry"
)

// Observe returns a model whose requests are operations of the context's telemetry. It is nil if m
// is.
func Observe(m Model) Model {
	if m == nil {
		return nil
	}
	return observed{m}
}

type observed struct{ Model }

// Embed embeds texts. It fails as a whole if each of them does.
func (o observed) Embed(ctx context.Context, texts []string) []Result {
	ctx, op := o.start(ctx)
	results := o.Model.Embed(ctx, texts)
	var failed error
	for _, r := range results {
		if failed = r.Err; failed == nil {
			break
		}
	}
	op.Int("p8.embeddings.texts", len(texts))
	op.End(failed)
	return results
}

// EmbedQuery embeds a question.
func (o observed) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	ctx, op := o.start(ctx)
	if op.Content() {
		op.String(telemetry.Input, text)
	}
	v, err := o.Model.EmbedQuery(ctx, text)
	op.End(err)
	return v, err
}

func (o observed) start(ctx context.Context) (context.Context, *telemetry.Op) {
	if telemetry.From(ctx) == nil {
		return ctx, nil
	}
	provider, model, _ := strings.Cut(o.Name(), ":")
	ctx, op := telemetry.Start(ctx, telemetry.Embeddings, model)
	op.String(telemetry.Provider, provider)
	op.String(telemetry.RequestModel, model)
	op.String(telemetry.EmbeddingModel, model)
	return ctx, op
}

// Shortens is that of the model.
func (o observed) Shortens() bool {
	s, ok := o.Model.(interface{ Shortens() bool })
	return ok && s.Shortens()
}
