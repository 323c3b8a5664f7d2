package operate

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/edge"
	"github.com/p8-org/p8/internal/outbound"
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

// certificates is the folder of the data folder with the certificates of an authority.
const certificates = "certificates"

// door is where clients come in.
type door struct {
	public net.Listener
	// tls is nil without TLS, authority without ACME.
	tls       *tls.Config
	authority *edge.Authority
	// domain is the first name that the authority certifies; clients reach its port 443.
	domain string
	// local is where commands of this machine come in: with TLS another port of loopback, as
	// the certificate is for the server's name; else public.
	local net.Listener
}

func newDoor(cfg *config.Config, public net.Listener, log *slog.Logger) (d door, err error) {
	d = door{public: public, local: public}
	switch {
	case cfg.TLSCert != "":
		cert, err := edge.LoadCertificate(cfg.TLSCert, cfg.TLSKey, log)
		if err != nil {
			return d, &config.Error{Name: "P8_TLS_CERT", Problem: "cannot be used, as " + err.Error(), Mend: "give a PEM file with the chain, and its key in P8_TLS_KEY"}
		}
		d.tls = cert.Config()
	case len(cfg.ACMEDomains) > 0 && cfg.DataDir == "":
		return d, &config.Error{Name: "P8_TLS_ACME_DOMAINS", Problem: "needs a folder for the certificates", Mend: "set P8_DATA_DIR"}
	case len(cfg.ACMEDomains) > 0:
		d.authority, err = edge.NewAuthority(edge.ACMEOptions{
			Domains: cfg.ACMEDomains, Email: cfg.ACMEEmail, Directory: cfg.ACMEURL,
			Folder: filepath.Join(cfg.DataDir, certificates), HTTP: outbound.NewClient(), Logger: log,
		})
		if err != nil {
			return d, &config.Error{Name: "P8_TLS_ACME_DOMAINS", Problem: "cannot be used", Mend: "give names of domains, and a data folder that can be written (" + err.Error() + ")"}
		}
		d.tls, d.domain = d.authority.Config(), cfg.ACMEDomains[0]
	default:
		return d, nil
	}
	if cfg.TLSClientCA != "" {
		if d.tls.ClientCAs, err = edge.LoadCA(cfg.TLSClientCA); err != nil {
			return d, &config.Error{Name: "P8_TLS_CLIENT_CA", Problem: "cannot be used", Mend: "give a PEM file with the certificate of the authority (" + err.Error() + ")"}
		}
		d.tls.ClientAuth = tls.VerifyClientCertIfGiven
	}
	d.local, err = new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	return d, err
}

// serve serves until the server is shut down. It returns the address, and what counts the open
// connections.
func (d door) serve(server *http.Server, most int, failed chan<- error) (base string, open func() int) {
	public := edge.Bound(d.public, most)
	if d.tls == nil {
		go func() { failed <- server.Serve(public) }()
		return address(d.public), public.Open
	}
	own := edge.Bound(d.local, most)
	open = func() int { return public.Open() + own.Open() }
	server.TLSConfig = d.tls
	go func() { failed <- server.ServeTLS(public, "", "") }()
	go func() { failed <- server.Serve(own) }()
	if d.authority != nil {
		go d.authority.Obtain()
		return "https://" + d.domain, open
	}
	return "https" + strings.TrimPrefix(address(d.public), "http"), open
}
