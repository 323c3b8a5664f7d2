// Package wiring builds p8 from its packages: [Open] makes the store, the catalog,
// the models, the tools and the chat service from the settings, and [Parts] holds
// them. It is the one place that knows how the parts fit together; commands take
// the parts they need. [OpenStore], [WithStore] and [WithCatalog] serve commands
// that need less.
//
// A server also runs background jobs ([Parts.StartBackground]) and resumes
// interrupted runs ([Parts.KeepRuns]).
package wiring

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/feedback"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/ingest/child"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/internal/privacy"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/internal/title"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
	"github.com/p8-org/p8/tool/mcp"
)

// Parts are the parts of p8, wired together.
type Parts struct {
	Log *slog.Logger
	// Store is nil without a database.
	Store *store.Store
	// Keeps: sessions are stored in Store.
	Keeps bool
	// memory is the store of a chat in memory; nil for none.
	memory  *store.Store
	Catalog *catalog.Catalog
	Chat    *chat.Service
	Models  *llm.Registry
	Choice  llm.Choice
	box     *tool.Box
	// own are p8's own tools, resources its own MCP resources.
	own       []tool.Tool
	resources *builtin.Resources
	// engine, asker and Ingest are nil without a database.
	engine *rem.Engine
	asker  *ask.Asker
	Ingest *ingest.Ingester
	// extractor parses files for Ingest; nil without a database.
	extractor *child.Pool
	// Work is the queue of background jobs; builder makes a moment of threshold tokens.
	// All of these are nil without a database.
	Work      *work
	builder   *memory.Builder
	threshold int
	dreams    *dream.Service
	reminders *reminder.Service
	feedback  *feedback.Service
	// Privacy gives out and deletes the data of a user.
	Privacy *privacy.Service
	// titles is also nil if no model writes titles.
	titles *title.Writer
	// Judge runs evaluator documents.
	Judge *evaluation.Model
	// servers are the MCP servers whose tools documents may name.
	servers *mcp.Servers
	// MCP serves the tools and resources to MCP clients. Commands that serve it set it.
	MCP *mcpserver.Server
	// A2A serves agents over Agent2Agent; nil if none is exposed.
	A2A *a2a.Server
	// Connections is how many connections a server keeps open.
	Connections int
	// keeper counts what callers use, quotas says what they may; nil but in servers.
	keeper *quota.Keeper
	quotas *quota.Manager
	// embedder is the embedding model, nil for none; asked is the same for texts of callers, who
	// pay for it.
	embedder, asked embed.Model
	// observer records operations; its Telemetry is nil if nothing is recorded.
	observer *observer
	// callers verifies those of the Handler; jobs that run before there is one find nil.
	callers atomic.Pointer[auth.Authenticator]
}

// Close stops runs and jobs and closes the store.
func (p *Parts) Close() {
	p.closeWork()
	if p.Chat != nil {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.Chat.Close(now)
	}
	if p.MCP != nil {
		p.MCP.Close()
	}
	if p.servers != nil {
		_ = p.servers.Close()
	}
	if p.extractor != nil {
		p.extractor.Close()
	}
	p.observer.close() // the metrics read the store
	for _, s := range []*store.Store{p.memory, p.Store} {
		if s == nil {
			continue
		}
		if err := s.Close(); err != nil {
			p.Log.Error("close the store", "error", err)
		}
	}
}

// closeWork waits up to 5 s for running jobs.
func (p *Parts) closeWork() {
	if p.Work == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.Work.close(ctx); err != nil {
		p.Log.Warn("the job queue", "error", err)
	}
}
