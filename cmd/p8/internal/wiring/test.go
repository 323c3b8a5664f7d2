package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// openEmpty opens a store in memory with nothing in it, not even p8's manual.
func openEmpty(ctx context.Context, now func() time.Time, log *slog.Logger) (*store.Store, error) {
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Memory: true, Logger: log, Reserved: reserved, Now: now})
	if err != nil {
		return nil, err
	}
	if err := s.Maintenance().PutRegistry(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// TestConfig returns the settings for a case of p8 test: those that change what models are
// sent are the defaults, so that a case goes the same way on every machine. documents is the
// folder of the agents.
func TestConfig(cfg *config.Config, documents string) (*config.Config, error) {
	plain, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + cfg.DataDir, "P8_DATABASE_URL=none"}})
	if err != nil {
		return nil, err
	}
	c := *cfg
	c.SchemaDir, c.EmbeddingModel, c.SummaryModel, c.TitleModel = documents, plain.EmbeddingModel, "none", "none"
	c.DefaultTemperature, c.DefaultMaxTokens, c.StructuredMode = plain.DefaultTemperature, plain.DefaultMaxTokens, plain.StructuredMode
	c.FallbackModels, c.QueryAgentModel = plain.FallbackModels, plain.QueryAgentModel
	c.ContextTokenBudget, c.AlwaysIncludeLastMessages, c.ToolResultChars = plain.ContextTokenBudget, plain.AlwaysIncludeLastMessages, plain.ToolResultChars
	c.MomentTokenThreshold, c.MomentMaxInject = plain.MomentTokenThreshold, plain.MomentMaxInject
	c.StepToolCalls, c.ToolCalls, c.DelegationDepth = plain.StepToolCalls, plain.ToolCalls, plain.DelegationDepth
	c.EmbeddingMinSimilarity, c.EmbeddingDimensions = plain.EmbeddingMinSimilarity, plain.EmbeddingDimensions
	c.OTelEnabled = "false"
	return &c, nil
}

// Load stores files and folders for everybody of the caller's tenant, and makes SEARCH find
// them.
func (p *Parts) Load(ctx context.Context, paths []string) error {
	report, err := p.Ingest.Paths(ctx, ingest.PathsOptions{Paths: paths, Shared: true})
	if err != nil {
		return err
	}
	for _, r := range report.Results {
		if r.Status == ingest.Failed {
			return fmt.Errorf("%s cannot be loaded: %s", r.Path, r.Reason)
		}
	}
	_, err = EmbedNow(ctx, p.Store, p.embedder, p.Log)
	return err
}
