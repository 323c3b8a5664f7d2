package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/config"
)

type serveCmd struct {
	Host string `help:"Loopback address to bind; 127.0.0.1 if not given." placeholder:"ADDRESS"`
	Port string `short:"p" help:"Port to bind; 8000 if not given, 0 takes a free one." placeholder:"PORT"`
}

// Run serves until SIGINT or SIGTERM, then lets runs end.
func (c *serveCmd) Run(a *app) error {
	cfg, err := a.config(
		config.Flag{Env: "P8_HOST", Name: "--host", Value: c.Host},
		config.Flag{Env: "P8_PORT", Name: "--port", Value: c.Port})
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	listener, err := listen(context.Background(), cfg.Host, cfg.Port)
	if err != nil {
		return err
	}
	defer listener.Close()
	p, err := a.open(context.Background(), cfg, wireOptions{Log: a.logger(cfg), Serves: true})
	if err != nil {
		return err
	}
	defer p.close()
	if _, err := p.models.Resolve(p.choice.Model); err != nil {
		return fmt.Errorf("the default model cannot be used: %w", err)
	}
	if err := p.catalog.Sync(context.Background()); err != nil {
		// p8 works without the copies.
		p.log.Warn("the documents could not be mirrored; GET /schemas and SQL do not see them", "error", err)
	}
	if p.store != nil {
		warnReserved(context.Background(), p.store, p.log)
	}
	if p.work != nil {
		if cfg.Database().Path != "" { // the lock says that nobody else is there
			if err := p.store.Maintenance().FreeLeases(context.Background()); err != nil {
				return err
			}
		}
		work, err := p.startBackground(context.Background(), cfg)
		if err != nil {
			return err
		}
		defer work.close()
	}
	if p.mcp, err = p.newMCP(cfg); err != nil {
		return err
	}
	if len(cfg.A2AAgents) > 0 {
		p.a2a, err = a2a.New(a2a.Options{Chat: p.chat, Catalog: p.catalog, Agents: cfg.A2AAgents, BaseURL: cfg.PublicURL, Version: version(), Logger: p.log})
		if err != nil {
			return err
		}
	}
	keeper, err := p.keepRuns(cfg)
	if err != nil {
		return err
	}
	defer keeper.stop()
	remove, err := announce(cfg, "http://"+listener.Addr().String())
	if err != nil {
		return err
	}
	defer remove()
	handler := p.handler(cfg)
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	a.greet(cfg, p, listener.Addr())

	select {
	case err := <-failed:
		p.log.Error("serve", "error", err)
		return errors.New("the server stopped by itself: see the log (P8_LOG_LEVEL=info tells more)")
	case <-signals:
	}
	keeper.drain()
	return a.shutdown(cfg.ShutdownTimeout, signals, server, handler, p)
}

// greet says that the server is ready, and how to reach it.
func (a *app) greet(cfg *config.Config, p *parts, addr net.Addr) {
	base := "http://" + addr.String()
	fmt.Fprintf(a.stdout, `p8 %s is ready at %s

  model  %s: %s
  data   %s
  reach  this machine only: without authentication p8 binds loopback addresses only

  curl -N %s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"general","stream":true,"messages":[{"role":"user","content":"How do I write an agent?"}]}'

  MCP clients: %s/mcp, or the command p8 mcp

`, version(), base, p.choice.Model, p.choice.Reason, cfg.Database(), base, base)
	a.warnUnknown(cfg)
}

// shutdown takes no new requests and lets runs end; a second signal or the timeout
// interrupts them. Another server, or the next start, goes on with those; their clients
// find the connection broken and come back.
func (a *app) shutdown(timeout time.Duration, signals <-chan os.Signal, server *http.Server, handler *api.Handler, p *parts) error {
	if n := p.chat.Running(); n > 0 {
		a.say("stopping: %s may go on for %s (Ctrl-C again interrupts it now)", count(n, "running answer"), timeout)
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
	// Interrupted runs store what they have said; that is no failure.
	_ = p.chat.Close(ctx)
	p.mcp.Close() // clients of sessions hold their streams open
	// Their last frames are on the way to clients that read.
	last, cancelLast := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancelLast()
	server.RegisterOnShutdown(p.chat.Leave) // nobody comes back to this server by then
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	return nil
}

// listen binds a loopback address, and no other.
func listen(ctx context.Context, host string, port int) (net.Listener, error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return nil, usage("there is no address for the host %q: use --host 127.0.0.1", host)
	}
	address := ips[0]
	for _, ip := range ips {
		if ip.Unmap().Is4() && !address.Unmap().Is4() {
			address = ip // what most clients try first
		}
		if !ip.Unmap().IsLoopback() {
			return nil, usage("%s is refused, as this build has no authentication and binds loopback only: use --host 127.0.0.1, and let a proxy that authenticates forward to it", host)
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address.Unmap().String(), strconv.Itoa(port)))
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
