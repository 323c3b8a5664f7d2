package wiring

import (
	"context"

	"github.com/p8-org/p8/internal/privacy"
)

// openPrivacy builds what gives out and deletes the data of a user, if sessions are stored.
func (p *Parts) openPrivacy(o Options) {
	if p.Work == nil {
		return
	}
	p.Privacy = privacy.New(privacy.Options{
		Store: p.Store, Audited: true, Chat: p.Chat, Queue: p.Work, Local: p.forgetCaller, Now: o.Now, Logger: p.Log,
	})
	p.Work.kinds[privacy.Kind] = p.Privacy.Worker()
}

// forgetCaller forgets what this process keeps of the caller outside of the database: API keys,
// the logins at MCP servers, and compiled agents, which hold the texts of documents.
func (p *Parts) forgetCaller(ctx context.Context) error {
	if callers := p.callers.Load(); callers != nil {
		callers.Forget()
	}
	p.Catalog.Clear("")
	return p.servers.Forget(ctx)
}
