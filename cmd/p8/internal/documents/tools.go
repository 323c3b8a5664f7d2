package documents

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

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// Tools is p8 tools.
type Tools struct {
	Server string `arg:"" optional:"" help:"Only the tools of this MCP server; local for p8's own."`
	JSON   bool   `help:"Print JSON, with the schemas of the arguments."`
}

// listedTool is a tool with its name in documents.
type listedTool struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// localTools stands for p8's own tools among the names of servers.
const localTools = "local"

// Run lists the tools of all servers and reports servers that do not answer.
func (c *Tools) Run(a *command.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	log := a.QuietLogger(cfg)
	servers, err := wiring.NewServers(cfg, log)
	if err != nil {
		return err
	}
	defer servers.Close()
	names := append([]string{localTools}, servers.Names()...)
	if c.Server != "" && !slices.Contains(names, c.Server) && servers.Server(c.Server) == nil {
		hint := "there are " + fmt.Sprint(names)
		if similar := near.Names(c.Server, names, 1); len(similar) > 0 {
			hint = "did you mean " + similar[0] + "?"
		}
		return command.Usage("there is no MCP server %q: %s (MCP_SERVER_<NAME> or P8_MCP_CONFIG names one)", c.Server, hint)
	}
	if c.Server != "" {
		names = []string{c.Server}
	}
	// On a signal, p8 stops the servers' programs before it exits.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list, down := []listedTool{}, 0
	for _, name := range names {
		found, err := toolsOf(ctx, name, servers, a, cfg, log)
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
	if err := c.print(a, list); err != nil {
		return err
	}
	if down > 0 {
		return command.Fail(command.ExitFailed, command.ErrSilent)
	}
	return nil
}

func (c *Tools) print(a *command.App, list []listedTool) error {
	if c.JSON {
		return show.JSON(a.Stdout, list)
	}
	if len(list) == 0 && c.Server != "" {
		a.Say("the MCP server %s has no tools", c.Server)
		return nil
	}
	g := show.Grid{Columns: []string{"server", "tool", "description"}}
	for _, t := range list {
		g.Rows = append(g.Rows, []string{t.Server, t.Name, show.OneLine(t.Description)})
	}
	return g.Table(a.Stdout)
}

// toolsOf returns the tools of one server, or p8's own.
func toolsOf(ctx context.Context, name string, servers tool.Servers, a *command.App, cfg *config.Config, log *slog.Logger) ([]listedTool, error) {
	var tools []tool.Tool
	var err error
	if name == localTools {
		tools, err = ownTools(a, ctx, cfg, log)
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

// ownTools returns p8's own tools. It works while a server has the database.
func ownTools(a *command.App, ctx context.Context, cfg *config.Config, log *slog.Logger) ([]tool.Tool, error) {
	p, err := wiring.Open(ctx, cfg, wiring.Options{Log: log, NoStore: true, Memory: true})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	options := p.ToolOptions(cfg, wiring.Options{})
	return builtin.Tools(options)
}
