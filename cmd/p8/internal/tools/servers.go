package tools

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/mcp"
)

// localTools stands for p8's own tools among the names of servers.
const localTools = "local"

// servers are the configured MCP servers, and the one of a command line.
type servers struct {
	*mcp.Servers
	opened map[string]tool.Server
}

func openServers(cfg *config.Config, log *slog.Logger) (*servers, error) {
	s, err := wiring.NewServers(cfg, log)
	if err != nil {
		return nil, err
	}
	return &servers{Servers: s, opened: map[string]tool.Server{}}, nil
}

// isUnnamed reports whether a text is an address or a command line rather than a name.
func isUnnamed(text string) bool { return strings.ContainsAny(text, "/ \t") }

// check returns a usage error unless text names a server: local, a configured one, or one
// by its address or command line.
func (s *servers) check(text string) error {
	names := append([]string{localTools}, s.Names()...)
	switch {
	case slices.Contains(names, text) || s.Servers.Server(text) != nil:
		return nil
	case isUnnamed(text):
		opened, err := s.Open(text)
		if err != nil {
			return command.Usage("--server: %v", err)
		}
		s.opened[text] = opened
		return nil
	}
	hint := "there are " + fmt.Sprint(names)
	if similar := near.Names(text, names, 1); len(similar) > 0 {
		hint = "did you mean " + similar[0] + "?"
	}
	return command.Usage("there is no MCP server %q: %s (MCP_SERVER_<NAME> or P8_MCP_CONFIG names one)", show.OneLine(text), hint)
}

// toolsOf returns the tools of a server that check accepted.
func (s *servers) toolsOf(ctx context.Context, name string) ([]tool.Tool, error) {
	if opened := s.opened[name]; opened != nil {
		return opened.Tools(ctx)
	}
	return s.Servers.Server(name).Tools(ctx)
}

// get returns the server that text names.
func (s *servers) get(text string) (tool.Server, error) {
	if err := s.check(text); err != nil {
		return nil, err
	}
	if opened := s.opened[text]; opened != nil {
		return opened, nil
	}
	if found := s.Servers.Server(text); found != nil {
		return found, nil
	}
	return nil, command.Usage("%s is p8 itself, not an MCP server", text)
}
