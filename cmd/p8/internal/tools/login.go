package tools

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/browser"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/mcp"
)

// Login is p8 tools login.
type Login struct {
	Server    string        `arg:"" help:"The MCP server: its name or its address."`
	Scope     string        `help:"Rights to ask for besides those that the server names, separated by blanks." placeholder:"SCOPES"`
	Open      bool          `help:"Open the address in a browser."`
	NoBrowser bool          `help:"The browser is on another machine: read the address to which it was sent from stdin."`
	Port      int           `help:"Port of this machine to which the browser is sent; 0 takes any free one." default:"0"`
	Wait      time.Duration `help:"How long to wait for you (${default})." default:"5m"`
	command.Caller
	JSON bool `help:"Print the server as JSON when you are signed in."`
}

// Run prints the address at which the user signs in, and waits until they have.
func (c *Login) Run(a *command.App) error {
	switch {
	case c.Open && c.NoBrowser:
		return command.Usage("--open and --no-browser cannot be used together")
	case c.Port < 0 || c.Port > 65535:
		return command.Usage("--port is %d: give a number from 0 to 65535", c.Port)
	case c.Wait <= 0:
		return command.Usage("--wait is %s: give a duration such as 5m", c.Wait)
	}
	who, err := c.Context()
	if err != nil {
		return err
	}
	s, server, err := openServer(a, c.Server)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, stop := signal.NotifyContext(who, os.Interrupt, syscall.SIGTERM)
	defer stop()
	within, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	var pasted <-chan string
	if c.NoBrowser {
		pasted = browser.Pasted(within, a.Stdin)
	}
	err = s.SignIn(within, server, mcp.SignIn{
		Port: c.Port, Scopes: strings.Fields(c.Scope), Pasted: pasted,
		Show: func(address string) { browser.Sign(a, address, c.Open, c.NoBrowser) },
	})
	switch {
	case ctx.Err() != nil:
		return command.Fail(command.ExitInterrupted, errors.New("stopped"))
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("nobody signed in within " + c.Wait.String() + ": --wait waits longer")
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, map[string]string{"server": c.Server, "status": "signed_in"})
	}
	a.Say("signed in to %s: p8 tools logout %s forgets it", c.Server, c.Server)
	return nil
}

// Logout is p8 tools logout.
type Logout struct {
	Server string `arg:"" help:"The MCP server: its name or its address."`
	command.Caller
	JSON bool `help:"Print the server as JSON."`
}

// Run deletes the user's login.
func (c *Logout) Run(a *command.App) error {
	ctx, err := c.Context()
	if err != nil {
		return err
	}
	s, server, err := openServer(a, c.Server)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := s.SignOut(ctx, server)
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New("you are not signed in to " + c.Server)
	case c.JSON:
		return show.JSON(a.Stdout, map[string]string{"server": c.Server, "status": "signed_out"})
	}
	a.Say("signed out of %s", c.Server)
	return nil
}

// openServer opens the MCP servers and returns the one that the user names.
func openServer(a *command.App, name string) (*servers, tool.Server, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, nil, err
	}
	s, err := openServers(cfg, a.QuietLogger(cfg))
	if err != nil {
		return nil, nil, err
	}
	server, err := s.get(name)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, server, nil
}
