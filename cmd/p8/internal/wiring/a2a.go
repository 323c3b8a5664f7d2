package wiring

import (
	"path/filepath"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/seal"
)

// OpenA2A builds the A2A server. Its jobs are also this process's if it exposes no agent:
// another one, which shares the database, may have enqueued them. If callers need tokens, its
// cards say so.
func (p *Parts) OpenA2A(cfg *config.Config, tokens bool) error {
	o := a2a.Options{
		Chat: p.Chat, Catalog: p.Catalog, Agents: cfg.A2AAgents, BaseURL: cfg.PublicURL, Provider: cfg.A2AProvider, Tokens: tokens,
		MaxBody: int64(cfg.MaxBodyBytes), Version: command.Version(), PrivateHooks: cfg.A2APrivateHooks, Resumes: cfg.RunAttempts > 0, Logger: p.Log,
	}
	if p.Keeps {
		o.Store = p.Store
	}
	if p.Keeps && p.Work != nil {
		o.Hooks, o.Leases, o.Queue, o.Seal = p.Store.Maintenance(), p.Store.Leases(), p.Work, NewSeal(cfg)
	}
	s, err := a2a.New(o)
	if err != nil {
		return err
	}
	if p.Work != nil {
		p.Work.kinds[a2a.KindPush] = s.Worker()
	}
	if len(cfg.A2AAgents) > 0 {
		p.A2A = s
	}
	return nil
}

// NewSeal returns the keys of the secrets in the database.
func NewSeal(cfg *config.Config) *seal.Ring {
	o := seal.Options{Keys: cfg.SecretKey, Purpose: "p8 secrets in the database"}
	if cfg.DataDir != "" {
		o.File = filepath.Join(cfg.DataDir, datadir.KeyFile)
	}
	return seal.New(o)
}
