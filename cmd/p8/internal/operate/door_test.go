package operate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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

	"github.com/p8-org/p8/internal/config"
)

// With a certificate, clients come in by TLS and HTTP/2, and commands of this machine by
// another port of loopback. A shutdown closes both.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"agents.example.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	raw, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	cert, secret := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(secret, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), 0o600))
	for _, wrong := range [][]string{{"P8_TLS_KEY=" + secret}, {"P8_TLS_CERT=" + cert}, {"P8_TLS_CERT=" + dir, "P8_TLS_KEY=" + secret}} {
		_, err := config.Load(config.Options{Environ: append(wrong, "HOME="+dir)})
		if err == nil {
			t.Errorf("%v is accepted", wrong)
		}
		if len(wrong) == 1 && strings.HasPrefix(wrong[0], "P8_TLS_KEY") && !strings.HasSuffix(err.Error(), " needs P8_TLS_CERT: set both, or none") {
			t.Error(err)
		}
	}
	cfg, err := config.Load(config.Options{Environ: []string{"HOME=" + dir, "P8_TLS_CERT=" + cert, "P8_TLS_KEY=" + secret}})
	must(t, err)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	d, err := newDoor(cfg, listener, log)
	must(t, err)
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), log)
	failed := make(chan error, 2)
	base, _ := d.serve(server, 10, failed)
	roots := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(der)
	must(t, err)
	roots.AddCert(leaf)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "agents.example.com"}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	for address, want := range map[string]string{base: "HTTP/2.0", address(d.local): "HTTP/1.1"} {
		res, err := client.Get(address)
		must(t, err)
		proto, err := io.ReadAll(res.Body)
		must(t, err)
		res.Body.Close()
		if string(proto) != want {
			t.Errorf("%s: %s, want %s", address, proto, want)
		}
	}
	if !strings.HasPrefix(base, "https://127.0.0.1:") || address(d.local) == address(listener) {
		t.Errorf("%s, %s", base, address(d.local))
	}
	must(t, server.Shutdown(t.Context()))
	for range 2 {
		if err := <-failed; err != http.ErrServerClosed {
			t.Error(err)
		}
	}
	must(t, os.WriteFile(cert, []byte("x"), 0o600))
	if _, err := newDoor(cfg, listener, log); err == nil || err.Error() != `P8_TLS_CERT cannot be used, as the file of the certificate has no block of PEM that ends with "CERTIFICATE-----": give a PEM file with the chain, and its key in P8_TLS_KEY` {
		t.Errorf("a broken certificate: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
