package wiring

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/models"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/ingest/child"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// NewEmbedder returns the embedding model of the settings, nil for none.
func NewEmbedder(cfg *config.Config) (embed.Model, error) {
	m, err := models.New(models.Options{
		Model: cfg.EmbeddingModel, Getenv: cfg.Getenv, BaseURL: cfg.EmbeddingBaseURL, APIKey: cfg.EmbeddingKey,
		Dimensions: cfg.EmbeddingDimensions, MinSimilarity: cfg.EmbeddingMinSimilarity,
	})
	return redactTexts(m, cfg.Redactor(config.RedactModel)), err
}

// NewEngine returns the engine of the REM dialect over k. before is called before each
// query; it may be nil.
func NewEngine(cfg *config.Config, k rem.Knowledge, model embed.Model, before func(context.Context), log *slog.Logger) *rem.Engine {
	o := rem.Options{Knowledge: k, Timeout: cfg.QueryTimeout, Before: before, Logger: log}
	if cfg.Database().Postgres != "" {
		o.Dialect = store.DialectPostgres
	}
	if model != nil {
		o.Embedder = model
		// A lexical model ranks better together with a ranking by words.
		_, o.Hybrid = model.(*offline.Model)
	}
	return rem.New(o)
}

// EmbedNow embeds all queued texts, for commands without a server beside them.
func EmbedNow(ctx context.Context, s *store.Store, model embed.Model, log *slog.Logger) (store.EmbeddingStatus, error) {
	if model == nil {
		return store.EmbeddingStatus{}, nil
	}
	w, err := worker.New(worker.Options{Store: s.Maintenance(), Model: model, Logger: log})
	if err != nil {
		return store.EmbeddingStatus{}, err
	}
	err = w.Drain(ctx)
	status, e := s.Maintenance().EmbeddingStatus(ctx)
	return status, errors.Join(err, e)
}

// NewIngester returns the Ingester that stores files in s.
func NewIngester(cfg *config.Config, s *store.Store, x ingest.Extractor) (*ingest.Ingester, error) {
	return ingest.New(ingest.Options{Store: ingest.Over(s), SchemaRow: catalog.Row, Extractor: x, MaxFileBytes: int64(cfg.MaxUploadBytes)})
}

// NewExtractor returns the pool of child processes that parse files.
func NewExtractor(cfg *config.Config, log *slog.Logger) *child.Pool {
	return child.New(child.Options{
		Memory: int64(cfg.ExtractMemory), Timeout: cfg.ExtractTimeout, Processes: cfg.ExtractProcesses, Log: log,
	})
}

// NewAsker returns the Asker, which turns questions into queries: by a model, or by rules
// if the default model is offline. zone is ask.Options.Zone. spent and may are
// Spent and May there; they may be nil.
func NewAsker(cfg *config.Config, e ask.Engine, docs *catalog.Catalog, registry *llm.Registry, choice llm.Choice, zone func(context.Context) (*time.Location, error), spent func(context.Context, []run.Spent), may func(context.Context) error) (*ask.Asker, error) {
	prices, err := NewPrices(cfg)
	if err != nil {
		return nil, err
	}
	return ask.New(ask.Options{
		Engine: e, Catalog: docs, Models: registry, Model: cfg.QueryAgentModel, DefaultModel: choice.Model,
		Fallback: cfg.FallbackModels, StructuredMode: cfg.StructuredMode, Cost: prices.Cost, Zone: zone, Spent: spent, May: may,
	})
}
