package operate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
)

// issuer signs certificates; cert is its own.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate, signed by itself if by is nil.
func issue(t *testing.T, by *issuer, change func(*x509.Certificate)) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rita"}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	change(template)
	if by == nil {
		by = &issuer{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	must(t, err)
	cert, err := x509.ParseCertificate(der)
	must(t, err)
	return issuer{cert, key}
}

func asAuthority(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.ExtKeyUsage = true, true, nil
}

func nothing(*x509.Certificate) {}

// pemFiles writes a certificate and its key.
func (i issuer) pemFiles(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	raw, err := x509.MarshalECPrivateKey(i.key)
	must(t, err)
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), 0o600))
	return cert, key
}

// A gateway with a certificate names its user; nobody else does, whatever the headers say.
func TestGateway(t *testing.T) {
	const key = "q7Zr0Lw2Xv9Tn4Bc"
	dir := t.TempDir()
	right, wrong := issue(t, nil, asAuthority), issue(t, nil, asAuthority)
	server := issue(t, nil, func(c *x509.Certificate) { c.DNSNames, c.ExtKeyUsage = []string{"agents.example.com"}, nil })
	cert, secret := server.pemFiles(t, dir, "server")
	ca, caKey := right.pemFiles(t, dir, "ca")
	environ := []string{"HOME=" + dir, "P8_TLS_CERT=" + cert, "P8_TLS_KEY=" + secret, "P8_API_KEY=" + key}
	log := slog.New(slog.DiscardHandler)
	for _, file := range []string{caKey, cert} { // a key, and a certificate that is no authority's
		cfg, err := config.Load(config.Options{Environ: append(environ, "P8_TLS_CLIENT_CA="+file)})
		must(t, err)
		if _, err := newDoor(cfg, nil, log); err == nil || !strings.Contains(err.Error(), "P8_TLS_CLIENT_CA") || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	cfg, err := config.Load(config.Options{Environ: append(environ, "P8_TLS_CLIENT_CA="+ca)})
	must(t, err)
	callers, err := wiring.Callers(cfg, nil, log)
	must(t, err)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	d, err := newDoor(cfg, listener, log)
	must(t, err)
	s := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := callers.Identify(r)
		if err != nil {
			_, _ = io.WriteString(w, "refused by p8")
			return
		}
		_, _ = fmt.Fprint(w, id.TenantID, "/", id.UserID, " ", id.Expires.IsZero())
	}), log)
	failed := make(chan error, 2)
	base, _ := d.serve(s, 100, failed)
	t.Cleanup(func() {
		_ = s.Close()
		<-failed
		<-failed
	})
	good := issue(t, &right, nothing)
	headers := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	rita := []string{"X-User-Id", "rita", "X-Tenant-Id", "acme"}
	expired := issue(t, &right, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
	early := issue(t, &right, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour / 2) })
	forServers := issue(t, &right, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })
	foreign, own := issue(t, &wrong, nothing), issue(t, nil, nothing)
	stolen := issuer{good.cert, wrong.key}
	for _, tt := range []struct {
		name   string
		cert   *issuer
		header http.Header
		want   string
	}{
		{"the right authority", &good, headers(rita...), "acme/rita false"},
		{"the right authority, no user", &good, nil, "default/ false"},
		{"the right authority and the key", &good, headers(append(rita, "X-Api-Key", key)...), "acme/rita false"},
		{"the right authority and a wrong token", &good, headers(append(rita, "Authorization", "Bearer x")...), "refused by p8"},
		{"another authority", &foreign, headers(rita...), "no connection"},
		{"expired", &expired, headers(rita...), "no connection"},
		{"not valid yet", &early, headers(rita...), "no connection"},
		{"for servers", &forServers, headers(rita...), "no connection"},
		{"signed by itself", &own, headers(rita...), "no connection"},
		{"the certificate without its key", &stolen, headers(rita...), "no connection"},
		{"another authority and the key", &foreign, headers("X-Api-Key", key), "no connection"},
		{"none", nil, headers(rita...), "refused by p8"},
		{"none, and headers of a proxy", nil, headers(append(rita, "X-Forwarded-Client-Cert", "Subject=rita", "X-SSL-Client-Verify", "SUCCESS", "X-Client-Cert", "rita", "X-Forwarded-Proto", "https")...), "refused by p8"},
		{"none, and the key", nil, headers("X-Api-Key", key), "default/ true"},
		{"none, and the key with a user", nil, headers(append(rita, "X-Api-Key", key)...), "refused by p8"},
	} {
		for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(tt.name+" "+proto, func(t *testing.T) {
				roots := x509.NewCertPool()
				roots.AddCert(server.cert)
				transport := &http.Transport{ForceAttemptHTTP2: proto == "HTTP/2.0", TLSClientConfig: &tls.Config{
					RootCAs: roots, ServerName: "agents.example.com",
					// It sends the certificate whatever authorities the server names.
					GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
						if tt.cert == nil {
							return new(tls.Certificate), nil
						}
						return &tls.Certificate{Certificate: [][]byte{tt.cert.cert.Raw}, PrivateKey: tt.cert.key}, nil
					},
				}}
				defer transport.CloseIdleConnections()
				if got := answer(t, transport, base, tt.header, proto); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
			})
		}
	}
	if got := answer(t, &http.Transport{DisableKeepAlives: true}, address(d.local), headers(rita...), "HTTP/1.1"); got != "refused by p8" {
		t.Errorf("the port for commands: %s", got)
	}
}

// answer returns the body of the response, or "no connection".
func answer(t *testing.T, transport http.RoundTripper, base string, header http.Header, proto string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base, nil)
	must(t, err)
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return "no connection"
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	if res.Proto != proto {
		t.Errorf("%s, want %s", res.Proto, proto)
	}
	return string(body)
}

// With domains, the door gets its certificates from an authority, into a folder of its own.
func TestDoorOfAuthority(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	cfg, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + dir, "P8_TLS_ACME_DOMAINS=agents.example.com"}})
	must(t, err)
	d, err := newDoor(cfg, listener, slog.New(slog.DiscardHandler))
	must(t, err)
	defer d.local.Close()
	if info, err := os.Stat(filepath.Join(dir, certificates)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if d.authority == nil || d.tls == nil || d.local == listener || d.domain != "agents.example.com" {
		t.Errorf("%+v", d)
	}
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, folder := range []string{"", filepath.Join(dir, "file")} { // none, and a file
		cfg.DataDir = folder
		if _, err := newDoor(cfg, listener, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "P8_TLS_ACME_DOMAINS") {
			t.Errorf("the data folder %q: %v", folder, err)
		}
	}
}
