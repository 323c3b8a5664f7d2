// Package operate has the commands that operate p8: the server and the MCP server, the
// database, background jobs, the settings, the simulator.
package operate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/config"
)

// Serve is p8 serve.
type Serve struct {
	Host string `help:"Loopback address to bind (127.0.0.1)." placeholder:"ADDRESS"`
	Port string `short:"p" help:"Port to bind (8000); 0 takes a free one." placeholder:"PORT"`
}

// Run serves until SIGINT or SIGTERM, then waits for running answers.
func (c *Serve) Run(a *command.App) error {
	cfg, err := a.Config(
		config.Flag{Env: "P8_HOST", Name: "--host", Value: c.Host},
		config.Flag{Env: "P8_PORT", Name: "--port", Value: c.Port})
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	log := a.Logger(cfg)
	listener, err := listen(context.Background(), cfg.Host, cfg.Port, cfg.Authenticates())
	if err != nil {
		return err
	}
	defer listener.Close()
	door, err := newDoor(cfg, listener, log)
	if err != nil {
		return err
	}
	defer door.local.Close()
	p, err := wiring.Open(context.Background(), cfg, wiring.Options{Log: log, Serves: true})
	if err != nil {
		return err
	}
	defer p.Close()
	callers, err := wiring.Callers(cfg, p.Store, log)
	if err != nil {
		return err
	}
	if _, err := p.Models.Resolve(p.Choice.Model); err != nil {
		return fmt.Errorf("the default model cannot be used: %w", err)
	}
	if err := p.Catalog.Sync(context.Background()); err != nil {
		// p8 works without the mirrors.
		p.Log.Warn("the documents could not be mirrored; GET /schemas and SQL do not see them", "error", err)
	}
	if p.Store != nil {
		wiring.WarnReserved(context.Background(), p.Store, p.Log)
		if closed, err := wiring.Unreachable(context.Background(), cfg, p.Store); err != nil {
			return err
		} else if closed {
			a.Say("no key and no user is in the tenant default yet: `p8 keys create NAME` makes a key; stop the server for it, unless the database is PostgreSQL")
		}
	}
	if err := p.OpenA2A(cfg, callers.Required()); err != nil {
		return err
	}
	if p.Work != nil {
		if cfg.Database().Path != "" { // this process has the lock, so no other one can be alive
			if err := p.Store.Maintenance().FreeLeases(context.Background()); err != nil {
				return err
			}
		}
		work, err := p.StartBackground(context.Background(), cfg)
		if err != nil {
			return err
		}
		defer work.Close()
	}
	if p.MCP, err = p.NewMCP(cfg); err != nil {
		return err
	}
	keeper, err := p.KeepRuns(cfg)
	if err != nil {
		return err
	}
	defer keeper.Stop()
	remove, err := datadir.Announce(cfg, address(door.local))
	if err != nil {
		return err
	}
	defer remove()
	handler := p.Handler(cfg, callers)
	server := newServer(handler, p.Log)
	failed := make(chan error, 2)
	base, connections := door.serve(server, p.Connections, failed)
	if err := p.Observe(cfg, callers, connections); err != nil {
		return err
	}
	metricsAt, asides, err := newAsides(cfg, p.Metrics(), p.Log)
	if err != nil {
		return err
	}
	defer closeAsides(asides)
	greet(a, cfg, p, base, metricsAt, callers.Required())

	select {
	case err := <-failed:
		p.Log.Error("serve", "error", err)
		return errors.New("the server stopped by itself: see the log (P8_LOG_LEVEL=info shows more)")
	case <-signals:
	}
	keeper.Drain()
	return shutdown(a, cfg.ShutdownTimeout, signals, server, handler, p)
}

// greet prints that the server is ready and how to reach it.
func greet(a *command.App, cfg *config.Config, p *wiring.Parts, base, metricsAt string, authenticates bool) {
	reach, header := "this machine only: without authentication p8 binds loopback addresses only", ""
	if authenticates {
		reach, header = "callers with a token", `-H "Authorization: Bearer $TOKEN" `
	}
	if authenticates && cfg.AuthAnonymous {
		reach, header = "callers with a token, and anybody else as a visitor (P8_AUTH_ANONYMOUS)", ""
	}
	fmt.Fprintf(a.Stdout, `p8 %s is ready at %s

  model  %s: %s
  data   %s
  reach  %s

  curl -N %s/v1/chat/completions %s-H 'Content-Type: application/json' \
    -d '{"model":"general","stream":true,"messages":[{"role":"user","content":"How do I write an agent?"}]}'

  MCP clients: %s/mcp, or the command p8 mcp

`, command.Version(), base, p.Choice.Model, p.Choice.Reason, cfg.Database(), reach, base, header, base)
	if metricsAt != "" {
		fmt.Fprintf(a.Stdout, "Metrics: %s\n\n", metricsAt)
	}
	a.WarnUnknown(cfg)
}

// address is where a client on this machine reaches the server.
func address(l net.Listener) string {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsUnspecified() {
		return "http://" + l.Addr().String()
	}
	host := "127.0.0.1"
	if at.IP.To4() == nil {
		host = "::1"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(at.Port))
}

// shutdown refuses new requests and waits for runs. A second signal or the timeout
// interrupts them; another server, or the next start, resumes them, and their clients
// reconnect.
func shutdown(a *command.App, timeout time.Duration, signals <-chan os.Signal, server *http.Server, handler *api.Handler, p *wiring.Parts) error {
	if n := p.Chat.Running(); n > 0 {
		a.Say("stopping: %s may go on for %s (Ctrl-C again interrupts it now)", show.Count(n, "running answer"), timeout)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-signals:
			cancel()
		case <-over:
		}
	}()
	handler.Drain()
	// Interrupted runs have stored their answers so far, so this is not a failure.
	_ = p.Chat.Close(ctx)
	p.MCP.Close() // its clients keep streams open
	if p.A2A != nil {
		p.A2A.Close()
	}
	// Clients still read the last frames.
	last, cancelLast := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancelLast()
	server.RegisterOnShutdown(p.Chat.Leave) // no client can reconnect to this server by then
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	return nil
}

// listen binds an address. Without authentication it must be a loopback one.
func listen(ctx context.Context, host string, port int, authenticates bool) (net.Listener, error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return nil, command.Usage("there is no address for the host %q: use --host 127.0.0.1", host)
	}
	address := ips[0]
	for _, ip := range ips {
		if ip.Unmap().Is4() && !address.Unmap().Is4() {
			address = ip // most clients try IPv4 first
		}
		if !ip.Unmap().IsLoopback() && !authenticates {
			return nil, command.Usage("%s is refused, as nothing would verify who sends requests: set P8_AUTH_KEYS, P8_AUTH_JWKS_URL, P8_AUTH_JWT_SECRET or P8_API_KEY, or use --host 127.0.0.1", host)
		}
	}
	network := "tcp6"
	if address.Unmap().Is4() {
		network = "tcp4" // "tcp" would take 0.0.0.0 for all addresses of IPv6, too
	}
	listener, err := new(net.ListenConfig).Listen(ctx, network, net.JoinHostPort(address.Unmap().String(), strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d of %s is in use: stop what listens there, or choose another with --port (0 takes a free one)", port, host)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("port %d may not be bound by this user: choose one above 1023 with --port", port)
	case err != nil:
		return nil, fmt.Errorf("%s port %d cannot be bound: choose another address with --host, or another port with --port", host, port)
	}
	return listener, nil
}
