package edge

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/idna"
)

// ACMEOptions configure an [Authority].
type ACMEOptions struct {
	// Domains are the names to get certificates for; no other one is asked for.
	Domains []string
	// Email is where the authority sends warnings, "" for nowhere.
	Email string
	// Directory is the address of the authority, "" for Let's Encrypt.
	Directory string
	// Folder keeps the account and the certificates.
	Folder string
	// HTTP asks the authority; it needs a Transport.
	HTTP   *http.Client
	Now    func() time.Time
	Logger *slog.Logger
}

const (
	// maxWaiting bounds the handshakes of a domain that wait for its first certificate.
	maxWaiting = 64
	// firstRest and lastRest are how long nothing is asked for after a failure. Authorities
	// count failures: Let's Encrypt allows five an hour. The library needs more than a minute.
	firstRest, lastRest = 2 * time.Minute, time.Hour
)

// Authority gets certificates from an ACME authority (RFC 8555) and renews them. The
// authority verifies a domain by a TLS handshake with the server itself (TLS-ALPN-01).
type Authority struct {
	manager *autocert.Manager
	log     *slog.Logger
	now     func() time.Time
	// domains has the state of each domain by its ASCII name.
	domains map[string]*domain

	mu sync.Mutex // guards the states and reported
	// reported is when a failure of a domain was logged; "" is a failure of no certain domain.
	reported map[string]time.Time
}

// domain is the state of the certificate of a domain.
type domain struct {
	ready    bool
	failures int
	// rest is when the authority may be asked again.
	rest    time.Time
	waiting chan struct{}
}

// NewAuthority makes an Authority. It asks for nothing yet.
func NewAuthority(o ACMEOptions) (*Authority, error) {
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the certificates: %w", err)
	}
	if err := os.Chmod(o.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("protect the folder of the certificates: %w", err)
	}
	a := &Authority{log: o.Logger, now: o.Now, domains: map[string]*domain{}, reported: map[string]time.Time{}}
	if a.now == nil {
		a.now = time.Now
	}
	for _, name := range o.Domains {
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return nil, fmt.Errorf("%q is no name of a domain", name)
		}
		a.domains[ascii] = &domain{waiting: make(chan struct{}, maxWaiting)}
	}
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(o.Folder), HostPolicy: autocert.HostWhitelist(o.Domains...), Email: o.Email,
		Client: &acme.Client{DirectoryURL: cmp.Or(o.Directory, autocert.DefaultACMEDirectory), UserAgent: "p8", HTTPClient: &http.Client{
			Transport: watched{o.HTTP.Transport, a.report}, CheckRedirect: o.HTTP.CheckRedirect, Timeout: 30 * time.Second,
		}},
	}
	return a, nil
}

// Config returns the configuration of a server: TLS 1.2 and later, HTTP/2.
func (a *Authority) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", acme.ALPNProto},
		GetCertificate: a.certificateFor,
	}
}

// Obtain gets the certificates that are missing, so that no client waits for them. The server
// must accept connections already.
func (a *Authority) Obtain() {
	for name := range a.domains {
		// settle logs the failure; a later handshake tries again.
		_, _ = a.certificate(name)
	}
}

func (a *Authority) certificateFor(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name, err := idna.Lookup.ToASCII(hello.ServerName)
	if err != nil || a.domains[name] == nil {
		return nil, fmt.Errorf("no certificate for %q", hello.ServerName)
	}
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.manager.GetCertificate(hello) // the authority verifies the domain
	}
	return a.certificate(name)
}

// certificate returns the certificate of a domain. Until there is one, a few handshakes wait
// for the authority and others fail.
func (a *Authority) certificate(name string) (*tls.Certificate, error) {
	d := a.domains[name]
	a.mu.Lock()
	ready, resting := d.ready, a.now().Before(d.rest)
	a.mu.Unlock()
	if !ready {
		if resting {
			return nil, fmt.Errorf("no certificate for %q yet", name)
		}
		select {
		case d.waiting <- struct{}{}:
			defer func() { <-d.waiting }()
		default:
			return nil, fmt.Errorf("no certificate for %q yet", name)
		}
	}
	// Any client gets the same certificate, with an ECDSA key: the library would get another
	// one, with RSA, for a client that knows nothing else.
	cert, err := a.manager.GetCertificate(&tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
	a.settle(name, d, err)
	return cert, err
}

// settle records how a request for a certificate went.
func (a *Authority) settle(name string, d *domain, err error) {
	a.mu.Lock()
	now := a.now()
	first := err == nil && !d.ready
	failed := err != nil && !now.Before(d.rest) // others that waited for the same answer do not count
	switch {
	case first:
		d.ready = true
	case failed:
		d.rest = now.Add(min(firstRest<<min(d.failures, 10), lastRest))
		d.failures++
	}
	a.mu.Unlock()
	switch {
	case first:
		a.log.Info("the certificate is ready", "domain", name)
	case failed:
		a.report(name, err.Error())
	}
}

// report logs that the authority gives no certificate, at most once a minute for each domain.
func (a *Authority) report(name, problem string) {
	a.mu.Lock()
	now := a.now()
	if a.domains[name] == nil {
		name = ""
	}
	for _, said := range []string{"", name} {
		if at, ok := a.reported[said]; ok && now.Sub(at) < time.Minute {
			a.mu.Unlock()
			return
		}
	}
	a.reported[name] = now
	a.mu.Unlock()
	a.log.Warn("the authority gives no certificate: see that each domain has the address of this server, and that port 443 there leads to it", "domain", name, "problem", problem)
}
