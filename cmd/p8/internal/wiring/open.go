package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/replay"
	"github.com/p8-org/p8/internal/simulator"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/models"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// Options are the differences between commands.
type Options struct {
	Log *slog.Logger
	// Memory keeps sessions in memory if there is no database.
	Memory bool
	// NoStore does not store sessions although there is a database.
	NoStore bool
	// Document is the path of a document that takes precedence over all others; "" for none.
	Document string
	// Yields: if another process has the embedded database, NoStore is set.
	Yields bool
	// Serves: this process is a server, whose workers run the background jobs.
	Serves bool
	// Tape records or plays the models and the tools of the outside; nil for neither. The store
	// is then one in memory, whatever the settings say.
	Tape *replay.Tape
	// Debug gets the JSON of each request to a model; it may be nil.
	Debug io.Writer
	// Pace wraps each model, and repeats requests in place of the model; it may be nil.
	Pace func(llm.Model) llm.Model
	// Now and NewID are the clock and the source of ids.
	Now   func() time.Time
	NewID func() string
}

// Open builds the parts: the store, with p8's documentation in it, the catalog, the
// models, the tools and the chat service. The caller closes them.
func Open(ctx context.Context, cfg *config.Config, o Options) (_ *Parts, err error) {
	p := &Parts{Log: o.Log}
	if p.observer, err = newObserver(cfg, o.Serves, p.Log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	var documents catalog.Store
	if o.Tape != nil {
		if p.Store, err = openEmpty(ctx, o.Now, p.Log); err != nil {
			return nil, err
		}
		documents = p.Store
	} else if !cfg.Database().None {
		p.Store, err = OpenStore(ctx, cfg, p.Log)
		var taken *InUse
		readOnly := errors.As(err, &taken) && (o.NoStore || o.Yields)
		o.NoStore = o.NoStore || readOnly
		switch {
		case readOnly:
			p.Store, err = readStore(ctx, cfg, p.Log)
		case taken != nil && o.Memory:
			err = fmt.Errorf("another p8 uses %s: talk to that server, use --no-store, or choose another folder with P8_DATA_DIR", taken.dir)
		}
		switch {
		case err != nil:
			return nil, err
		case readOnly && p.Store != nil:
			documents = readOnlyDocuments{p.Store}
		case p.Store != nil:
			documents = p.Store
		}
	}
	p.Keeps = p.Store != nil && !o.NoStore
	if p.Catalog, err = NewCatalog(cfg, documents, o.Document, o.Serves, p.Log); err != nil {
		return nil, err
	}
	if p.embedder, err = NewEmbedder(cfg); err != nil {
		return nil, err
	}
	prices, err := NewPrices(cfg)
	if err != nil {
		return nil, err
	}
	p.Models, p.Choice = NewModels(ctx, cfg, ModelOptions{Cost: prices.Cost, Tape: o.Tape, Pace: o.Pace, Debug: o.Debug})
	if o.Serves {
		if p.keeper, err = newKeeper(cfg, p.Store, o); err != nil {
			return nil, err
		}
	}
	p.asked = embed.Observe(meterEmbedder(p.embedder, p.keeper, prices.Cost))
	p.embedder = embed.Observe(p.embedder)
	bounds := newLimits(cfg, boundMemory(cfg, p.Log), openFiles())
	p.Connections = bounds.conns
	if p.memory, err = openMemory(ctx, p.Store, o); err != nil {
		return nil, err
	}
	sessions, knowledge := chatStores(p.Store, p.memory, o)
	if knowledge != nil {
		p.engine = NewEngine(cfg, knowledge, p.asked, p.Catalog.Refresh, p.Log)
		var spent func(context.Context, []run.Spent)
		if p.Keeps {
			spent = KeepSpent(p.Store, p.Log)
		}
		if p.asker, err = NewAsker(cfg, p.engine, p.Catalog, p.Models, p.Choice, Zone(p.Store, p.Log), spent, p.may); err != nil {
			return nil, err
		}
	}
	if p.Store != nil {
		p.extractor = NewExtractor(cfg, p.Log)
		if p.Ingest, err = NewIngester(cfg, p.Store, p.extractor); err != nil {
			return nil, err
		}
	}
	if err := p.openMemory(cfg, o); err != nil {
		return nil, err
	}
	tools, err := p.openTools(cfg, o)
	if err != nil {
		return nil, err
	}
	if p.servers, err = NewServers(cfg, p.Log); err != nil {
		return nil, err
	}
	p.box = &tool.Box{Local: tools, Resources: p.resources, Servers: p.servers, Logger: p.Log}
	if o.Tape != nil {
		p.box.Servers = o.Tape.Servers(p.servers)
	}
	var admits func(context.Context, bool) (chat.Account, error)
	if o.Serves {
		admits = admit(p.keeper)
		if p.Store != nil {
			if p.quotas, err = Quotas(cfg, p.Store); err != nil {
				return nil, err
			}
		}
	}
	p.Chat, err = chat.New(chat.Options{
		Catalog: p.Catalog, Models: p.Models, Tools: p.box, Store: sessions,
		DefaultModel: p.Choice.Model, Fallback: cfg.FallbackModels, Cost: prices.Cost,
		Defaults:       llm.Settings{Temperature: &cfg.DefaultTemperature, DefaultTemperature: true, MaxTokens: cfg.DefaultMaxTokens, DefaultMaxTokens: true},
		StructuredMode: cfg.StructuredMode,
		KeepLast:       cfg.AlwaysIncludeLastMessages, Budget: cfg.ContextTokenBudget, Moments: moments(cfg), ResultChars: cfg.ToolResultChars,
		Window:  windows(prices),
		Ended:   p.ended(o),
		Admit:   admits,
		Stored:  p.observer.waited(),
		MaxRuns: bounds.runs, Memory: bounds.memory,
		RunTimeout: cfg.RunTimeout, ToolTimeout: cfg.ToolTimeout, StepToolCalls: cfg.StepToolCalls, ToolCalls: cfg.ToolCalls,
		MaxDepth: cfg.DelegationDepth, AnswerWithin: cfg.AnswerWithin, Attempts: attempts(cfg, o),
		Scripts:   map[string]chat.Script{simulator.Agent: simulator.Script(simulator.Agent), simulator.LightAgent: simulator.Script(simulator.LightAgent)},
		Telemetry: p.observer.Telemetry,
		Now:       o.Now, NewID: o.NewID, Logger: p.Log,
	})
	if err != nil {
		return nil, err
	}
	if p.Judge, err = p.newJudge(cfg, prices.Cost); err != nil {
		return nil, err
	}
	if err := p.openDreams(cfg, o); err != nil {
		return nil, err
	}
	p.openPrivacy(o)
	return p, p.addDelegation(tools)
}

// moments returns the number of moments in a request; to chat, 0 means its default.
func moments(cfg *config.Config) int {
	if cfg.MomentMaxInject == 0 {
		return -1
	}
	return cfg.MomentMaxInject
}

// attempts returns how often a run is resumed after a crash. Only servers resume runs.
func attempts(cfg *config.Config, o Options) int {
	if !o.Serves {
		return 0
	}
	return cfg.RunAttempts
}

// windows returns the context and output sizes of models.
func windows(table *models.Table) func(string) (int, int) {
	return func(name string) (int, int) {
		info, _ := table.Info(name)
		return info.Context, info.Output
	}
}

// isOffline reports whether a name is that of the built-in model.
func isOffline(name string) bool { return strings.HasPrefix(name, "offline:") }

// addDelegation adds the tools that run other agents. They need the chat service, which
// needs the other tools.
func (p *Parts) addDelegation(tools *tool.Registry) error {
	ask, err := p.Chat.AskAgent()
	if err != nil {
		return err
	}
	hand, err := p.Chat.TransferToAgent()
	if err != nil {
		return err
	}
	p.own = append(p.own, ask)
	return errors.Join(tools.Register(ask), tools.Register(hand))
}
