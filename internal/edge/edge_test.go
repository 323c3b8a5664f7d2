package edge_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/edge"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// serve serves a handler on at most so many connections. The connections are pipes.
func serve(t *testing.T, most int, h http.Handler) pipes {
	t.Helper()
	l := make(pipes, 16)
	server := &http.Server{Handler: edge.Serving(h), ConnContext: edge.ConnContext, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(edge.Bound(l, most))
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return l
}

// pipes is a listener whose connections are made with dial.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// ask sends a request and returns the status of the response, 0 for a closed connection.
func ask(c net.Conn) int {
	go func() { _, _ = io.WriteString(c, get) }()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// However many clients send half a header and wait, the memory is bounded, and who asks is
// served.
func TestSlowClients(t *testing.T) {
	const most = 64
	flood := harness.Count(t, 500, 10_000)
	l := serve(t, most, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	slow := make([]net.Conn, flood)
	for i := range slow {
		slow[i] = l.dial()
		go func() { _, _ = io.WriteString(slow[i], "GET / HTTP/1.1\r\nX-Slow: ") }()
		if i%100 == 0 {
			c := l.dial()
			if status := ask(c); status != http.StatusOK {
				t.Fatalf("after %d slow clients: %d", i, status)
			}
			c.Close()
		}
	}
	closed := 0
	for _, c := range slow[:flood-most] { // the oldest made room
		if _, err := c.Read(make([]byte, 1)); err != nil {
			closed++
		}
	}
	if closed != flood-most {
		t.Errorf("%d of %d connections are closed", closed, flood-most)
	}
	for _, c := range slow {
		c.Close()
	}
}

// A connection whose request is being served is not closed; then a new one is.
func TestServedConnectionsStay(t *testing.T) {
	begun, end := make(chan bool, 2), make(chan bool)
	l := serve(t, 2, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- true
		<-end
	}))
	answers := make(chan int, 2)
	var open []net.Conn
	for range 2 {
		c := l.dial()
		open = append(open, c)
		go func() { answers <- ask(c) }()
		<-begun
	}
	if status := ask(l.dial()); status != 0 {
		t.Errorf("a third connection: %d", status)
	}
	close(end)
	for range 2 {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("a request that was served: %d", status)
		}
	}
	// Both wait now, so that a new one takes the place of one.
	if status := ask(l.dial()); status != http.StatusOK {
		t.Errorf("after them: %d", status)
	}
	for _, c := range open {
		c.Close()
	}
}

func certificate(t *testing.T, dir, name string, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	raw, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: raw}} {
		must(t, os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600))
		must(t, os.Chtimes(filepath.Join(dir, file), at, at))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A renewed certificate counts without a restart; a broken one does not replace it. Versions
// before TLS 1.2 are refused, and HTTP/2 is offered.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	files := [2]string{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	if _, err := edge.LoadCertificate(files[0], files[1], slog.New(slog.DiscardHandler)); err == nil {
		t.Error("files that are not there")
	}
	at := time.Now().Add(-time.Hour)
	certificate(t, dir, "one.example.com", at)
	c, err := edge.LoadCertificate(files[0], files[1], slog.New(slog.DiscardHandler))
	must(t, err)
	shake := func(most uint16) string {
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		go func() { _ = tls.Server(server, c.Config()).Handshake() }()
		seen := tls.Client(client, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: most, NextProtos: []string{"h2"}})
		if seen.Handshake() != nil {
			return "refused"
		}
		return fmt.Sprint(seen.ConnectionState().PeerCertificates[0].DNSNames[0], " ", seen.ConnectionState().NegotiatedProtocol)
	}
	for _, step := range []struct {
		change func()
		most   uint16
		want   string
	}{
		{func() {}, tls.VersionTLS13, "one.example.com h2"},
		{func() {}, tls.VersionTLS12, "one.example.com h2"},
		{func() {}, tls.VersionTLS11, "refused"},
		{func() { certificate(t, dir, "two.example.com", at.Add(time.Minute)); edge.Look(c) }, tls.VersionTLS13, "two.example.com h2"},
		{func() { must(t, os.WriteFile(files[0], []byte("half"), 0o600)); edge.Look(c) }, tls.VersionTLS13, "two.example.com h2"},
	} {
		step.change()
		if got := shake(step.most); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
}
