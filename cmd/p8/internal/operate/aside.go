package operate

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/edge"
	"github.com/p8-org/p8/internal/outbound"
)

// aside is a server beside the API, without authentication: of metrics, or of profiles.
type aside struct {
	server   *http.Server
	listener net.Listener
}

const (
	// asideConns bounds the connections of an aside, asideWithin how long a client may take to read
	// a page.
	asideConns  = 100
	asideWithin = 30 * time.Second
)

// newAsides makes the servers that the settings ask for. They are closed with closeAsides.
func newAsides(cfg *config.Config, metrics http.Handler, log *slog.Logger) (metricsAt string, all []*aside, err error) {
	if host, port, ok := cfg.MetricsAddress(); ok {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics)
		a, err := serveAside("P8_METRICS_ADDR", host, port, mux, asideWithin, log)
		if err != nil {
			return "", nil, err
		}
		metricsAt, all = address(a.listener)+"/metrics", append(all, a)
	}
	if host, port, ok := cfg.PprofAddress(); ok {
		a, err := serveAside("P8_PPROF_ADDR", host, port, profiles(), 0, log)
		if err != nil {
			closeAsides(all)
			return "", nil, err
		}
		log.Info("profiles", "address", address(a.listener)+"/debug/pprof/")
		all = append(all, a)
	}
	return metricsAt, all, nil
}

// serveAside binds the address of a setting and serves until closeAsides.
func serveAside(setting, host string, port int, h http.Handler, within time.Duration, log *slog.Logger) (*aside, error) {
	const chosen = true // whoever sets an address means it
	l, err := listen(context.Background(), host, port, chosen)
	if err != nil {
		return nil, &config.Error{Name: setting, Problem: "cannot be used, as " + err.Error(), Mend: "give another address"}
	}
	server := newServer(local(l.Addr(), h), log)
	server.WriteTimeout, server.MaxHeaderBytes = within, 16<<10
	go func() {
		if err := server.Serve(edge.Bound(l, asideConns)); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("serve", "setting", setting, "error", err)
		}
	}()
	return &aside{server, l}, nil
}

// closeAsides stops the servers; scrapes under way have a second.
func closeAsides(all []*aside) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, a := range all {
		if a.server.Shutdown(ctx) != nil {
			_ = a.server.Close()
		}
	}
}

// local refuses requests with a foreign host name at an address of this machine: the name of a page
// that resolves to it (DNS rebinding).
func local(at net.Addr, h http.Handler) http.Handler {
	host, _, err := net.SplitHostPort(at.String())
	if err != nil || !outbound.IsLoopback(host) {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			name = r.Host
		}
		if !outbound.IsLoopback(name) && !outbound.IsLocalName(name) {
			http.Error(w, "this address answers to 127.0.0.1 and localhost only", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// profiles serves /debug/pprof.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
