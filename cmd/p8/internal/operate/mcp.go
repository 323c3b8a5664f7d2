package operate

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
)

// MCP is p8 mcp.
type MCP struct {
	User   string `short:"u" help:"Act as this user (e-mail address or id)."`
	Tenant string `help:"Tenant of the user."`
}

// Run serves one client until it disconnects or a signal comes. Only the protocol writes
// to standard output.
func (c *MCP) Run(a *command.App) error {
	who, err := command.Caller{User: c.User, Tenant: c.Tenant}.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(who, os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := wiring.Open(ctx, cfg, wiring.Options{Log: a.QuietLogger(cfg)})
	if err != nil {
		return err
	}
	defer p.Close()
	if p.MCP, err = p.NewMCP(cfg); err != nil {
		return err
	}
	return p.MCP.Stdio(ctx, a.Stdin, a.Stdout)
}
