package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/store"
)

type mcpCmd struct {
	User   string `short:"u" help:"Who is asking: an e-mail address, or a user id."`
	Tenant string `short:"t" help:"Tenant of the user."`
}

// Run serves one client until it goes or the process is told to end. Standard
// output is the protocol's alone.
func (c *mcpCmd) Run(a *app) error {
	who, err := caller{User: c.User, Tenant: c.Tenant}.context()
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(who, os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := a.open(ctx, cfg, wireOptions{Log: a.quietLogger(cfg)})
	if err != nil {
		return err
	}
	defer p.close()
	if p.mcp, err = p.newMCP(cfg); err != nil {
		return err
	}
	return p.mcp.Stdio(ctx, a.stdin, a.stdout)
}

// newMCP offers the parts to MCP clients.
func (p *parts) newMCP(cfg *config.Config) (*mcpserver.Server, error) {
	return mcpserver.New(mcpserver.Options{
		Tools: p.own, Resources: p.resources, Completer: p.resources,
		Touches: map[string][]string{
			"save_agent": {agentsURI, agentsURI + "/{name}"}, "update_user_metadata": {"user://profile"},
			"save_moments": {"rem://moments"},
		},
		ExposeAgents: cfg.MCPAgents, Catalog: p.catalog, Chat: p.chat,
		Instructions: cfg.MCPInstructions, Version: version(), ToolTimeout: cfg.ToolTimeout,
		MaxBody: int64(cfg.MaxBodyBytes), Logger: p.log,
	})
}

// agentsURI is the resource that lists the agents.
const agentsURI = "rem://agents"

// announced is the store of the REST routes; MCP clients hear of what they
// change.
type announced struct {
	*store.Store
	mcp *mcpserver.Server
}

// PutSchema stores a document and tells of it.
func (s announced) PutSchema(ctx context.Context, row *store.Schema) error {
	err := s.Store.PutSchema(ctx, row)
	if err == nil {
		s.told(ctx, row.Name)
	}
	return err
}

// DeleteSchema deletes a document and tells of it.
func (s announced) DeleteSchema(ctx context.Context, nameOrID string) error {
	err := s.Store.DeleteSchema(ctx, nameOrID)
	if err == nil {
		s.told(ctx, nameOrID)
	}
	return err
}

func (s announced) told(ctx context.Context, name string) {
	if s.mcp != nil {
		s.mcp.Changed(ctx, agentsURI)
		s.mcp.Changed(ctx, agentsURI+"/"+name)
	}
}
