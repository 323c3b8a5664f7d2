package wiring

import (
	"context"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/store"
)

// NewMCP returns the MCP server of the parts.
func (p *Parts) NewMCP(cfg *config.Config) (*mcpserver.Server, error) {
	return mcpserver.New(mcpserver.Options{
		Tools: p.own, Resources: p.resources, Completer: p.resources,
		Touches: map[string][]string{
			"save_agent": {agentsURI, agentsURI + "/{name}"}, "update_user_metadata": {"user://profile", "user://profile/{user_id}"},
			"save_moments": {"rem://moments"},
		},
		ExposeAgents: cfg.MCPAgents, Catalog: p.Catalog, Chat: p.Chat,
		Instructions: cfg.MCPInstructions, Version: command.Version(), ToolTimeout: cfg.ToolTimeout,
		MaxBody: int64(cfg.MaxBodyBytes), Telemetry: p.observer.Telemetry, Logger: p.Log,
	})
}

// agentsURI is the resource that lists the agents.
const agentsURI = "rem://agents"

// documents is a store that mirrors the schema folder before documents are read, and
// notifies MCP clients of changed ones.
type documents struct {
	api.Store
	catalog *catalog.Catalog
	mcp     *mcpserver.Server
}

// Schemas lists documents.
func (s documents) Schemas(ctx context.Context, f store.SchemaFilter) ([]store.Schema, string, error) {
	s.catalog.Refresh(ctx)
	return s.Store.Schemas(ctx, f)
}

// Schema returns one document.
func (s documents) Schema(ctx context.Context, nameOrID string) (store.Schema, error) {
	s.catalog.Refresh(ctx)
	return s.Store.Schema(ctx, nameOrID)
}

// PutSchema stores a document and notifies clients.
func (s documents) PutSchema(ctx context.Context, row *store.Schema) error {
	err := s.Store.PutSchema(ctx, row)
	if err == nil {
		s.notify(ctx, row.Name)
	}
	return err
}

// DeleteSchema deletes a document and notifies clients.
func (s documents) DeleteSchema(ctx context.Context, nameOrID string) error {
	err := s.Store.DeleteSchema(ctx, nameOrID)
	if err == nil {
		s.notify(ctx, nameOrID)
	}
	return err
}

func (s documents) notify(ctx context.Context, name string) {
	if s.mcp != nil {
		s.mcp.Changed(ctx, agentsURI)
		s.mcp.Changed(ctx, agentsURI+"/"+name)
	}
}
