package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

type toolsCmd struct {
	Server string `arg:"" optional:"" help:"Only the tools of this MCP server; local for p8's own."`
	JSON   bool   `help:"Print JSON, the schemas of the arguments included."`
}

// listedTool is a tool as a document names it.
type listedTool struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// localTools is the name of this process among the servers.
const localTools = "local"

// Run asks every server, and says which of them does not answer.
func (c *toolsCmd) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	log := a.quietLogger(cfg)
	servers, err := newServers(cfg, log)
	if err != nil {
		return err
	}
	defer servers.Close()
	names := append([]string{localTools}, servers.Names()...)
	if c.Server != "" && !slices.Contains(names, c.Server) && servers.Server(c.Server) == nil {
		hint := "there are " + fmt.Sprint(names)
		if near := agent.Near(c.Server, names, 1); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return usage("there is no MCP server %q: %s (MCP_SERVER_<NAME> or P8_MCP_CONFIG names one)", c.Server, hint)
	}
	if c.Server != "" {
		names = []string{c.Server}
	}
	// Told to end, p8 ends the servers' programs first.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list, down := []listedTool{}, 0
	for _, name := range names {
		found, err := toolsOf(ctx, name, servers, a, cfg, log)
		var known *tool.Error
		switch {
		case errors.As(err, &known):
			a.say("%s: %s", name, known.Message)
			down++
		case ctx.Err() != nil:
			return &exitError{exitInterrupted, errors.New("stopped")}
		case err != nil:
			return err
		}
		list = append(list, found...)
	}
	if err := c.print(a, list); err != nil {
		return err
	}
	if down > 0 {
		return &exitError{exitFailed, errSilent}
	}
	return nil
}

func (c *toolsCmd) print(a *app, list []listedTool) error {
	if c.JSON {
		return writeJSON(a.stdout, list)
	}
	g := grid{columns: []string{"server", "tool", "description"}}
	for _, t := range list {
		g.rows = append(g.rows, []string{t.Server, t.Name, oneLine(t.Description)})
	}
	return g.table(a.stdout)
}

// toolsOf are the tools of one server, or p8's own.
func toolsOf(ctx context.Context, name string, servers tool.Servers, a *app, cfg *config.Config, log *slog.Logger) ([]listedTool, error) {
	var tools []tool.Tool
	var err error
	if name == localTools {
		tools, err = a.ownTools(ctx, cfg, log)
	} else {
		tools, err = servers.Server(name).Tools(ctx)
	}
	list := make([]listedTool, 0, len(tools))
	for _, t := range tools {
		spec := t.Spec()
		list = append(list, listedTool{Server: name, Name: tool.OriginalName(t), Description: spec.Description, Parameters: spec.Parameters})
	}
	return list, err
}

// ownTools are p8's, as far as a database that may be used by another process
// shows them.
func (a *app) ownTools(ctx context.Context, cfg *config.Config, log *slog.Logger) ([]tool.Tool, error) {
	p, err := a.open(ctx, cfg, wireOptions{Log: log, NoStore: true, Memory: true})
	if err != nil {
		return nil, err
	}
	defer p.close()
	options := p.toolOptions(cfg, wireOptions{})
	return builtin.Tools(options)
}
