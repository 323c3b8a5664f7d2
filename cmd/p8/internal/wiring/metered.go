package wiring

import (
	"context"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/internal/tokens"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// may fails with a *quota.Error if the caller may spend nothing more today.
func (p *Parts) may(ctx context.Context) error {
	if p.keeper == nil {
		return nil
	}
	return p.keeper.May(ctx)
}

// meteredEmbedder embeds texts of callers, who pay for it.
type meteredEmbedder struct {
	embed.Model
	keeper *quota.Keeper
	count  tokens.Counter
	cost   func(model string, u llm.Usage) float64
}

// meterEmbedder returns the model for texts of callers. One without a server costs nothing.
func meterEmbedder(m embed.Model, k *quota.Keeper, cost func(string, llm.Usage) float64) embed.Model {
	if _, free := m.(*offline.Model); m == nil || free || k == nil {
		return m
	}
	return &meteredEmbedder{Model: m, keeper: k, cost: cost}
}

// Embed returns a *quota.Error for each text if the caller may spend nothing more today.
func (m *meteredEmbedder) Embed(ctx context.Context, texts []string) []embed.Result {
	if err := m.keeper.May(ctx); err != nil {
		refused := make([]embed.Result, len(texts))
		for i := range refused {
			refused[i].Err = err
		}
		return refused
	}
	results := m.Model.Embed(ctx, texts)
	m.spend(ctx, texts...)
	return results
}

// EmbedQuery fails with a *quota.Error if the caller may spend nothing more today.
func (m *meteredEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := m.keeper.May(ctx); err != nil {
		return nil, err
	}
	v, err := m.Model.EmbedQuery(ctx, text)
	m.spend(ctx, text)
	return v, err
}

// Shortens is that of the model.
func (m *meteredEmbedder) Shortens() bool {
	s, ok := m.Model.(interface{ Shortens() bool })
	return ok && s.Shortens()
}

// spend counts tokens as OpenAI does, also for answers that failed.
func (m *meteredEmbedder) spend(ctx context.Context, texts ...string) {
	n := 0
	for _, text := range texts {
		n += m.count.Count(text)
	}
	m.keeper.Spend(ctx, n, m.cost(m.Name(), llm.Usage{Input: n}))
}

// meteredSummarizer fails for callers who may spend nothing more today: they get extractive
// summaries.
type meteredSummarizer struct {
	memory.Summarizer
	may func(context.Context) error
}

// Summarize sums up rows.
func (m meteredSummarizer) Summarize(ctx context.Context, rows []store.Message) (memory.Summary, error) {
	if err := m.may(ctx); err != nil {
		return memory.Summary{}, err
	}
	return m.Summarizer.Summarize(ctx, rows)
}
