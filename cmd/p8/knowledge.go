package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/models"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// newEmbedder is the model that makes the vectors of SEARCH; nil for none.
func newEmbedder(cfg *config.Config) (embed.Model, error) {
	return models.New(models.Options{
		Model: cfg.EmbeddingModel, Getenv: cfg.Getenv, BaseURL: cfg.EmbeddingBaseURL, APIKey: cfg.EmbeddingKey,
		Dimensions: cfg.EmbeddingDimensions, MinSimilarity: cfg.EmbeddingMinSimilarity,
	})
}

// newEngine answers queries from k.
func newEngine(cfg *config.Config, k rem.Knowledge, model embed.Model, log *slog.Logger) *rem.Engine {
	o := rem.Options{Knowledge: k, Timeout: cfg.QueryTimeout, Logger: log}
	if cfg.Database().Postgres != "" {
		o.Dialect = store.DialectPostgres
	}
	if model != nil {
		o.Embedder = model
		// A model that knows words only ranks better together with a rank by words.
		_, o.Hybrid = model.(*offline.Model)
	}
	return rem.New(o)
}

// embedNow makes the vectors that wait, for a verb whose process has no server
// beside it. It tells how many were made.
func embedNow(ctx context.Context, s *store.Store, model embed.Model, log *slog.Logger) (store.EmbeddingStatus, error) {
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

// queryWords are what Tab completes: the words of the dialect and the tables.
func queryWords() []string {
	words := strings.Fields("LOOKUP FUZZY SEARCH TRAVERSE SQL EXPLAIN SELECT FROM WHERE CATEGORY FIELD LIMIT THRESHOLD " +
		"MIN_SIMILARITY HYBRID TYPE DEPTH LOAD WITH ORDER BY exit quit help")
	return append(words, rem.Tables()...)
}
