package operate

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/edge"
)

// newServer makes the HTTP server. Its listeners are a door's.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           edge.Serving(handler),
		ConnContext:       edge.ConnContext,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// door is where clients come in.
type door struct {
	public net.Listener
	// cert is nil without TLS.
	cert *edge.Certificate
	// local is where commands of this machine come in: with TLS another port of loopback, as
	// the certificate is for the server's name; else public.
	local net.Listener
}

func newDoor(cfg *config.Config, public net.Listener, log *slog.Logger) (d door, err error) {
	d = door{public: public, local: public}
	if cfg.TLSCert == "" {
		return d, nil
	}
	if d.cert, err = edge.LoadCertificate(cfg.TLSCert, cfg.TLSKey, log); err != nil {
		return d, &config.Error{Name: "P8_TLS_CERT", Problem: "cannot be used", Mend: "give a PEM file with the chain, and its key in P8_TLS_KEY (" + err.Error() + ")"}
	}
	d.local, err = new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	return d, err
}

// serve serves until the server is shut down, and returns the address.
func (d door) serve(server *http.Server, most int, failed chan<- error) (base string) {
	public := edge.Bound(d.public, most)
	if d.cert == nil {
		go func() { failed <- server.Serve(public) }()
		return address(d.public)
	}
	server.TLSConfig = d.cert.Config()
	go func() { failed <- server.ServeTLS(public, "", "") }()
	go func() { failed <- server.Serve(edge.Bound(d.local, most)) }()
	return "https" + strings.TrimPrefix(address(d.public), "http")
}
