package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/ingest/child"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/internal/simulator"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/models"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
	"github.com/p8-org/p8/tool/mcp"
)

// parts are what p8 is made of, wired together.
type parts struct {
	log *slog.Logger
	// store is nil when nothing is stored.
	store   *store.Store
	catalog *catalog.Catalog
	chat    *chat.Service
	models  *llm.Registry
	choice  llm.Choice
	box     *tool.Box
	// own are p8's own tools, resources what it lets people read.
	own       []tool.Tool
	resources *builtin.Resources
	// engine, asker and ingest are nil when nothing is stored.
	engine *rem.Engine
	asker  *ask.Asker
	ingest *ingest.Ingester
	// extractor is the ingester's; nil when nothing is stored.
	extractor *child.Pool
	// work is the queue of background jobs; builder makes moments, threshold is when,
	// dreams and reminders are what their names say. All are nil where nothing is kept.
	work      *work
	builder   *memory.Builder
	threshold int
	dreams    *dream.Service
	reminders *reminder.Service
	// servers are the MCP servers whose tools documents may declare.
	servers *mcp.Servers
	// mcp offers the tools and resources to MCP clients; nil but for the verbs that
	// serve it.
	mcp *mcpserver.Server
	// a2a lets other people's agents talk to this server's; nil where none is exposed.
	a2a *a2a.Server
	// embedder makes the vectors of SEARCH, nil for none.
	embedder embed.Model
}

// wireOptions are what differs between the verbs.
type wireOptions struct {
	Log *slog.Logger
	// Memory keeps the sessions in the process where they are not stored.
	Memory bool
	// NoStore keeps sessions in memory although there is a store.
	NoStore bool
	// Serves says that workers of this process do background jobs.
	Serves bool
	// Debug gets the JSON of every request to a model.
	Debug io.Writer
	// Now and NewID are the clock and the source of ids.
	Now   func() time.Time
	NewID func() string
}

// open makes the parts: the store with p8's documentation in it, the documents,
// the models, the tools, and the service that runs turns of all of them.
func (a *app) open(ctx context.Context, cfg *config.Config, o wireOptions) (_ *parts, err error) {
	p := &parts{log: o.Log}
	var documents catalog.Store
	if !cfg.Database().None {
		p.store, err = openStore(ctx, cfg, p.log)
		var taken *inUse
		readOnly := errors.As(err, &taken) && o.NoStore
		switch {
		case readOnly:
			p.store, err = readStore(ctx, cfg, p.log)
		case taken != nil && o.Memory:
			err = fmt.Errorf("another p8 uses %s: talk to that server, use --no-store, or choose another folder with P8_DATA_DIR", taken.dir)
		}
		switch {
		case err != nil:
			return nil, err
		case readOnly && p.store != nil:
			documents = readOnlyDocuments{p.store}
		case p.store != nil:
			documents = p.store
		}
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.catalog, err = newCatalog(cfg, documents, p.log); err != nil {
		return nil, err
	}
	if p.embedder, err = newEmbedder(cfg); err != nil {
		return nil, err
	}
	p.models, p.choice = newModels(ctx, cfg, o.Debug)
	prices, err := newPrices(cfg)
	if err != nil {
		return nil, err
	}
	bounds := newLimits(cfg, boundMemory(cfg, p.log), openFiles())
	sessions, knowledge := keptIn(p.store, o)
	if knowledge != nil {
		p.engine = newEngine(cfg, knowledge, p.embedder, p.log)
		if p.asker, err = newAsker(cfg, p.engine, p.catalog, p.models, p.choice); err != nil {
			return nil, err
		}
	}
	if p.store != nil {
		p.extractor = newExtractor(cfg, p.log)
		if p.ingest, err = newIngester(cfg, p.store, p.extractor); err != nil {
			return nil, err
		}
	}
	if err := p.remember(cfg, o); err != nil {
		return nil, err
	}
	tools, err := p.openTools(cfg, o)
	if err != nil {
		return nil, err
	}
	if p.servers, err = newServers(cfg, p.log); err != nil {
		return nil, err
	}
	p.box = &tool.Box{Local: tools, Resources: p.resources, Servers: p.servers, Logger: p.log}
	p.chat, err = chat.New(chat.Options{
		Catalog: p.catalog, Models: p.models, Tools: p.box, Store: sessions,
		DefaultModel: p.choice.Model, Fallback: cfg.FallbackModels, Cost: prices.Cost,
		Defaults:       llm.Settings{Temperature: &cfg.DefaultTemperature, DefaultTemperature: true, MaxTokens: cfg.DefaultMaxTokens, DefaultMaxTokens: true},
		StructuredMode: cfg.StructuredMode,
		KeepLast:       cfg.AlwaysIncludeLastMessages, Budget: cfg.ContextTokenBudget, Moments: moments(cfg), ResultChars: cfg.ToolResultChars,
		Window:  windows(prices),
		Ended:   p.ended(o.Serves),
		MaxRuns: bounds.runs, Memory: bounds.memory,
		RunTimeout: cfg.RunTimeout, ToolTimeout: cfg.ToolTimeout, StepToolCalls: cfg.StepToolCalls, ToolCalls: cfg.ToolCalls,
		MaxDepth: cfg.DelegationDepth, AnswerWithin: cfg.AnswerWithin, Attempts: attempts(cfg, o),
		Scripts: map[string]chat.Script{simulator.Agent: simulator.Script(simulator.Agent), simulator.LightAgent: simulator.Script(simulator.LightAgent)},
		Now:     o.Now, NewID: o.NewID, Logger: p.log,
	})
	if err != nil {
		return nil, err
	}
	if err := p.dreamOf(cfg, o); err != nil {
		return nil, err
	}
	return p, p.addDelegation(tools)
}

// moments is how many a request has; the chat's 0 is its default.
func moments(cfg *config.Config) int {
	if cfg.MomentMaxInject == 0 {
		return -1
	}
	return cfg.MomentMaxInject
}

// attempts is how often runs are resumed: by servers alone, for nobody looks after runs
// elsewhere.
func attempts(cfg *config.Config, o wireOptions) int {
	if !o.Serves {
		return 0
	}
	return cfg.RunAttempts
}

// windows are what models read and write.
func windows(table *models.Table) func(string) (int, int) {
	return func(name string) (int, int) {
		info, _ := table.Info(name)
		return info.Context, info.Output
	}
}

// isOffline reports whether a model's name is that of the one that needs no model.
func isOffline(name string) bool { return strings.HasPrefix(name, "offline:") }

// addDelegation gives documents the tools that run other agents: they need the
// service, which needs the tools.
func (p *parts) addDelegation(tools *tool.Registry) error {
	ask, err := p.chat.AskAgent()
	if err != nil {
		return err
	}
	hand, err := p.chat.TransferToAgent()
	if err != nil {
		return err
	}
	p.own = append(p.own, ask)
	return errors.Join(tools.Register(ask), tools.Register(hand))
}

// close ends what runs and closes the store.
func (p *parts) close() {
	p.closeWork()
	if p.chat != nil {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.chat.Close(now)
	}
	if p.mcp != nil {
		p.mcp.Close()
	}
	if p.servers != nil {
		_ = p.servers.Close()
	}
	if p.extractor != nil {
		p.extractor.Close()
	}
	if p.store != nil {
		if err := p.store.Close(); err != nil {
			p.log.Error("close the store", "error", err)
		}
	}
}

// closeWork lets background jobs end, for a moment.
func (p *parts) closeWork() {
	if p.work == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.work.close(ctx); err != nil {
		p.log.Warn("the job queue", "error", err)
	}
}

// handler is p8 over HTTP. It is reached from this machine only, so the
// identity headers are believed.
func (p *parts) handler(cfg *config.Config) *api.Handler {
	o := api.Options{
		Chat: p.chat, Catalog: p.catalog, TrustHeaders: true,
		Models:  func(context.Context) []string { return []string{p.choice.Model} },
		Hosts:   cfg.AllowedHosts,
		Origins: cfg.AllowedOrigins,
		Tools:   p.box.Names,
		MaxBody: int64(cfg.MaxBodyBytes), Version: version(), Logger: p.log,
	}
	if p.mcp != nil {
		o.MCP = p.mcp.Handler()
	}
	if p.a2a != nil {
		o.A2A = p.a2a
	}
	if p.store != nil {
		o.Store, o.Files, o.Ready = announced{p.store, p.mcp}, p.store.Files(), p.store.Maintenance().Check
		o.Knowledge, o.Asker, o.Ingest = p.engine, p.asker, p.ingest
		o.MaxUpload = int64(cfg.MaxUploadBytes)
		o.Preview, o.Diary, o.Moments, o.Pieces = p.chat, p.store.Diary(), p.store.Moments(), p.store.Resources()
	}
	if p.builder != nil {
		o.Builder, o.Reminders, o.Dreams, o.Jobs = p.builder, p.reminders, p.dreams, p.work
		o.Recorder = func(ctx context.Context, u memory.Upload) (string, store.Moment, error) {
			return memory.RecordUpload(ctx, p.store, u)
		}
	}
	return api.New(o)
}

// newCatalog finds documents in the store, which may be nil, the program and
// the schema folder.
func newCatalog(cfg *config.Config, s catalog.Store, log *slog.Logger) (*catalog.Catalog, error) {
	return catalog.New(catalog.Options{Builtin: agents.Files(), Dir: cfg.SchemaDir, Store: s, CacheSize: cfg.CacheSize, Logger: log})
}
