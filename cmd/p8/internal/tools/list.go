package tools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/tool"
)

// List is p8 tools list.
type List struct {
	Name   string `arg:"" optional:"" name:"server" help:"Only the tools of this MCP server; local for p8's own."`
	Server string `help:"The same; also the address or the command line of a server that is not configured." placeholder:"SERVER"`
	command.Caller
	JSON bool `help:"Print JSON, with the schemas of the arguments."`
}

// listedTool is a tool with its name in documents.
type listedTool struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// Run lists the tools of all servers and reports servers that do not answer.
func (c *List) Run(a *command.App) error {
	if c.Name != "" && c.Server != "" {
		return command.Usage("give one server: %q or --server %q", c.Name, c.Server)
	}
	who, err := c.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	log := a.QuietLogger(cfg)
	s, err := openServers(cfg, log)
	if err != nil {
		return err
	}
	defer s.Close()
	names := append([]string{localTools}, s.Names()...)
	if only := c.Name + c.Server; only != "" {
		names = []string{only}
		if err := s.check(only); err != nil {
			return err
		}
	}
	// On a signal, p8 stops the servers' programs before it exits.
	ctx, stop := signal.NotifyContext(who, os.Interrupt, syscall.SIGTERM)
	defer stop()
	list, down := []listedTool{}, 0
	for _, name := range names {
		found, err := listOf(ctx, name, s, cfg, log)
		var known *tool.Error
		switch {
		case errors.As(err, &known):
			a.Say("%s: %s", name, known.Message)
			down++
		case ctx.Err() != nil:
			return command.Fail(command.ExitInterrupted, errors.New("stopped"))
		case err != nil:
			return err
		}
		list = append(list, found...)
	}
	if err := c.print(a, list, names); err != nil {
		return err
	}
	if down > 0 {
		return command.Fail(command.ExitFailed, command.ErrSilent)
	}
	return nil
}

func (c *List) print(a *command.App, list []listedTool, names []string) error {
	if c.JSON {
		return show.JSON(a.Stdout, list)
	}
	if len(list) == 0 && len(names) == 1 {
		a.Say("the MCP server %s has no tools", names[0])
		return nil
	}
	g := show.Grid{Columns: []string{"server", "tool", "description"}}
	for _, t := range list {
		g.Rows = append(g.Rows, []string{t.Server, t.Name, show.OneLine(t.Description)})
	}
	return g.Table(a.Stdout)
}

// listOf returns the tools of one server, or p8's own.
func listOf(ctx context.Context, name string, s *servers, cfg *config.Config, log *slog.Logger) ([]listedTool, error) {
	var tools []tool.Tool
	var err error
	if name == localTools {
		tools, err = ownTools(ctx, cfg, log)
	} else {
		tools, err = s.toolsOf(ctx, name)
	}
	list := make([]listedTool, 0, len(tools))
	for _, t := range tools {
		spec := t.Spec()
		list = append(list, listedTool{Server: name, Name: tool.OriginalName(t), Description: spec.Description, Parameters: spec.Parameters})
	}
	return list, err
}

// ownTools returns p8's own tools. It works while a server has the database.
func ownTools(ctx context.Context, cfg *config.Config, log *slog.Logger) ([]tool.Tool, error) {
	p, err := wiring.Open(ctx, cfg, wiring.Options{Log: log, NoStore: true, Memory: true})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.OwnTools(cfg, wiring.Options{})
}
