package wiring

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/logins"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/internal/replay"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
	"github.com/p8-org/p8/llm/gemini"
	"github.com/p8-org/p8/llm/models"
	"github.com/p8-org/p8/llm/offline"
	"github.com/p8-org/p8/llm/openai"
	"github.com/p8-org/p8/tool/mcp"
)

// ModelOptions configure NewModels; each may be nil.
type ModelOptions struct {
	// Cost is the price of a request, for telemetry.
	Cost func(string, llm.Usage) float64
	// Tape records or plays the models.
	Tape *replay.Tape
	// Pace wraps each model, and repeats requests in place of the model.
	Pace func(llm.Model) llm.Model
	// Debug gets the JSON of each request.
	Debug io.Writer
}

// NewModels returns the registry of all providers, and the default model.
func NewModels(ctx context.Context, cfg *config.Config, mo ModelOptions) (*llm.Registry, llm.Choice) {
	choice := mo.Tape.Choice(func() llm.Choice { return llm.ChooseDefault(ctx, llm.ChooseOptions{Getenv: cfg.ProviderEnv}) })
	var show func([]byte)
	if mo.Debug != nil {
		show = func(payload []byte) { fmt.Fprintf(mo.Debug, "%s\n", payload) }
	}
	client := outbound.NewClient() // shared by all providers
	o := llm.ProvidersOptions{
		Getenv: cfg.ProviderEnv, HTTPClient: client, Debug: show, IdleTimeout: cfg.ModelSilence, SilenceVar: "P8_MODEL_SILENCE",
	}
	if mo.Pace != nil {
		o.MaxRetries = -1
	}
	providers := openai.Providers(o)
	maps.Copy(providers, anthropic.Providers(o))
	providers["gemini"] = gemini.Providers(o)["gemini"]
	redactModels(providers, cfg.Redactor(config.RedactModel))
	providers["offline"] = func(string) (llm.Model, error) {
		return withDebug(offline.New(offline.Options{Notice: choice.Notice}), show)
	}
	for name, construct := range providers {
		providers[name] = mo.paced(mo.Tape.Provider(name, construct))
	}
	return llm.NewRegistry(llm.RegistryOptions{Providers: providers, Local: []string{"offline"}, Cost: mo.Cost}), choice
}

// paced returns a constructor of paced models.
func (o *ModelOptions) paced(construct llm.Constructor) llm.Constructor {
	if o.Pace == nil {
		return construct
	}
	return func(model string) (llm.Model, error) {
		m, err := construct(model)
		if err != nil {
			return nil, err
		}
		return o.Pace(m), nil
	}
}

// NewPrices returns the table of models, with the additions of P8_MODELS_FILE.
func NewPrices(cfg *config.Config) (*models.Table, error) {
	table, err := models.Load(models.Options{File: cfg.ModelsFile})
	if err != nil {
		return nil, fmt.Errorf("P8_MODELS_FILE: %w", err)
	}
	return table, nil
}

// NewServers returns the MCP servers that the environment and P8_MCP_CONFIG name.
func NewServers(cfg *config.Config, log *slog.Logger) (*mcp.Servers, error) {
	servers, err := mcp.New(mcp.Options{
		Redact: redactCalls(cfg.Redactor(config.RedactTools)),
		Getenv: cfg.Getenv, Environ: cfg.Environ(), ConfigFile: cfg.MCPConfig, CallTimeout: cfg.ToolTimeout,
		Logins:  logins.ForMCP(cfg.DataDir, cfg.SecretKey),
		Version: command.Version(), Logger: log,
	})
	if err != nil {
		return nil, command.Fail(command.ExitUsage, err)
	}
	return servers, nil
}
