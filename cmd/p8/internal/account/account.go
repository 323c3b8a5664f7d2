// Package account has the commands with which a person signs in to a p8 server: login,
// logout and whoami.
package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/browser"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/signin"
)

// at is a server that the user names.
type at struct {
	URL string `arg:"" optional:"" name:"server-url" help:"The server; by default P8_SERVER_URL, or the one that has the data folder."`
}

// find returns the server that the user means, and the settings.
func (s at) find(a *command.App) (*config.Config, *url.URL, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, nil, err
	}
	for _, text := range []string{s.URL, cfg.ServerURL, datadir.Server(cfg)} {
		if text != "" {
			base, err := datadir.ServerURL(text)
			return cfg, base, err
		}
	}
	return nil, nil, command.Usage("which server? give its address, such as https://agents.example.com, or set P8_SERVER_URL")
}

// Login is p8 login.
type Login struct {
	at
	Device    bool          `help:"Sign in with a browser of any machine: prints an address and a code."`
	Password  bool          `help:"Sign in with the password of a user of the server (p8 users)."`
	Email     string        `help:"The user's e-mail address, for --password." placeholder:"ADDRESS"`
	Tenant    string        `help:"The user's tenant, for --password, if the address is known in several."`
	NoBrowser bool          `help:"The browser is on another machine: read the address to which it was sent from stdin."`
	Port      int           `help:"Port of this machine to which the browser is sent; 0 takes any free one." default:"0"`
	Wait      time.Duration `help:"How long to wait for you (${default})." default:"5m"`
	JSON      bool          `help:"Print who you are as JSON when you are signed in."`
}

// Run signs the user in, checks that the server takes the token, and stores the login.
func (c *Login) Run(a *command.App) error {
	switch {
	case c.Device && c.NoBrowser, c.Password && (c.Device || c.NoBrowser):
		return command.Usage("give one of --device, --password and --no-browser")
	case c.Password && c.Email == "":
		return command.Usage("--password needs --email, your e-mail address")
	case !c.Password && c.Email+c.Tenant != "":
		return command.Usage("--email and --tenant need --password: otherwise the identity provider says who you are")
	case c.Port < 0 || c.Port > 65535:
		return command.Usage("--port is %d: give a number from 0 to 65535", c.Port)
	case c.Wait <= 0:
		return command.Usage("--wait is %s: give a duration such as 5m", c.Wait)
	}
	cfg, base, err := c.find(a)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	within, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	signIn := c.signIn
	if c.Password {
		signIn = c.withPassword
	}
	login, err := signIn(within, a, cfg, base)
	switch {
	case ctx.Err() != nil:
		return command.Fail(command.ExitInterrupted, errors.New("stopped"))
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("nobody signed in within " + c.Wait.String() + ": --wait waits longer")
	case err != nil:
		return explain(base, err)
	}
	var me Me
	if err := peer.WithToken(base, login.Access).Do(ctx, http.MethodGet, "/me", nil, nil, &me); err != nil {
		return fmt.Errorf("the server does not take the token, so it was not stored: %w", err)
	}
	files, _, _ := peer.Stored(cfg, base) // a login that cannot be read is replaced
	if err := files.PutLogin(peer.Person(ctx), login); err != nil {
		return err
	}
	if c.JSON {
		return show.JSON(a.Stdout, me)
	}
	a.Say("signed in to %s as %s: `p8 logout` forgets it", base, me.who())
	return nil
}

// signIn gets a token for the server.
func (c *Login) signIn(ctx context.Context, a *command.App, cfg *config.Config, base *url.URL) (*signin.Login, error) {
	client := signin.Client(http.DefaultTransport)
	server, err := signin.FindServer(ctx, client, base)
	if err != nil {
		return nil, err
	}
	provider, err := signin.FindProvider(ctx, client, server)
	if err != nil {
		return nil, err
	}
	o := signin.Options{Client: client, Server: server, Provider: provider, ClientID: cfg.LoginClientID, Port: c.Port}
	var login *signin.Login
	if c.Device {
		login, err = signin.WithDevice(ctx, o, func(d signin.Device) { c.show(a, d) })
	} else {
		o.Show = func(address string) {
			browser.Sign(a, address, !c.NoBrowser && show.IsTerminal(a.Stdin) && show.IsTerminal(a.Stderr), c.NoBrowser)
		}
		if c.NoBrowser {
			o.Pasted = browser.Pasted(ctx, a.Stdin)
		}
		login, err = signin.Browse(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	login.Server = base.String()
	return login, nil
}

// show shows what the user needs to sign in elsewhere.
func (c *Login) show(a *command.App, d signin.Device) {
	a.Say("sign in with any browser, at")
	a.Say("%s", show.Visible(d.Address))
	a.Say("and enter the code %s", show.Visible(d.Code))
	if d.Whole != "" {
		a.Say("or follow %s", show.Visible(d.Whole))
	}
	if d.Within > 0 {
		a.Say("the code is valid for %s", d.Within)
	}
}

// explain words why nobody was signed in.
func explain(base *url.URL, err error) error {
	var denied *signin.DeniedError
	switch {
	case errors.Is(err, signin.ErrOpen):
		return errors.New("nobody signs in to " + base.String() + ": it works without a token")
	case errors.Is(err, signin.ErrNoProvider):
		return errors.New(base.String() + " names no identity provider at which people sign in: give --password --email ADDRESS if you are a user of the server itself, or set P8_SERVER_TOKEN to a token or key of it")
	case errors.Is(err, signin.ErrForeign):
		return errors.New(base.String() + " points to another host, which p8 does not follow: give that host's address if you trust it")
	case errors.As(err, &denied):
		return errors.New("you were not signed in: the identity provider says " + denied.Reason)
	}
	return errors.New("you were not signed in to " + base.String() + ": " + err.Error())
}
