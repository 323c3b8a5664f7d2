package wiring

import (
	"context"
	"errors"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// paid is an embedding model that counts the texts it was sent.
type paid struct {
	embed.Model
	texts int
}

func (*paid) Name() string { return "openai:test" }

func (p *paid) Embed(_ context.Context, texts []string) []embed.Result {
	p.texts += len(texts)
	return make([]embed.Result, len(texts))
}

func (p *paid) EmbedQuery(context.Context, string) ([]float32, error) {
	p.texts++
	return []float32{1}, nil
}

func (*paid) Summarize(context.Context, []store.Message) (memory.Summary, error) {
	return memory.Summary{Text: "by a model"}, nil
}

// What callers embed is counted, and ends with their money.
func TestEmbeddingsArePaidFor(t *testing.T) {
	model, k := &paid{}, quota.New(quota.Options{User: quota.Limits{USD: 1}})
	m := meterEmbedder(model, k, func(name string, u llm.Usage) float64 { return float64(u.Input) * 0.25 })
	rita := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "rita"})
	if r := m.Embed(rita, []string{"one", "two"}); r[0].Err != nil { // a token each
		t.Fatal(r[0].Err)
	}
	for range 2 {
		if _, err := m.EmbedQuery(rita, "one"); err != nil {
			t.Fatal(err)
		}
	}
	var refused *quota.Error
	if _, err := m.EmbedQuery(rita, "one"); !errors.As(err, &refused) || refused.What != "usd" {
		t.Errorf("a search: %v", err)
	}
	if r := m.Embed(rita, []string{"one", "two"}); len(r) != 2 || !errors.As(r[1].Err, &refused) {
		t.Errorf("texts: %v", r)
	}
	if model.texts != 4 {
		t.Errorf("the model got %d texts", model.texts)
	}
	summarizer := meteredSummarizer{model, (&Parts{keeper: k}).may}
	if _, err := summarizer.Summarize(rita, nil); !errors.As(err, &refused) {
		t.Errorf("a summary: %v", err)
	}
	otto := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "otto"})
	if s, err := summarizer.Summarize(otto, nil); err != nil || s.Text != "by a model" {
		t.Errorf("another user: %v %v", s, err)
	}
}
