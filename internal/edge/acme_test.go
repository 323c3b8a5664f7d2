package edge_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/edge"
)

// lines is a log.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

// warnings returns the lines of failures.
func (l *lines) warnings() (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=WARN") {
			found = append(found, line)
		}
	}
	return found
}

// site is a server with certificates of an authority.
type site struct {
	*edge.Authority
	address string
	roots   *x509.CertPool
	log     *lines
	mu      sync.Mutex
	now     time.Time
}

func newSite(t *testing.T, from *authority, folder string, domains ...string) *site {
	t.Helper()
	s := &site{roots: x509.NewCertPool(), log: &lines{}, now: time.Now()}
	s.roots.AddCert(from.root)
	var err error
	s.Authority, err = edge.NewAuthority(edge.ACMEOptions{
		Domains: domains, Email: "ops@example.com", Directory: from.URL + "/dir", Folder: folder,
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
		Now: func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.now
		},
	})
	must(t, err)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	s.address = l.Addr().String()
	server := &http.Server{
		Handler:     edge.Serving(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })),
		ConnContext: edge.ConnContext, TLSConfig: s.Config(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ServeTLS(edge.Bound(l, 500), "", "")
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// shake returns the protocol of a handshake whose certificate is the authority's.
func (s *site) shake(name string, protocols ...string) string {
	c, err := tls.Dial("tcp", s.address, &tls.Config{ServerName: name, RootCAs: s.roots, NextProtos: protocols})
	if err != nil {
		return "refused"
	}
	defer c.Close()
	return c.ConnectionState().NegotiatedProtocol
}

// The server gets a certificate for its domains, and for no other one, with one verification
// however many ask at once. A server that starts again has it already.
func TestAuthority(t *testing.T) {
	from, folder := newACME(t), filepath.Join(t.TempDir(), "certificates")
	must(t, os.MkdirAll(folder, 0o755))
	s := newSite(t, from, folder, "Agents.example.com", "bücher.example.com")
	from.set(func() { from.site = s.address })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := s.shake("agents.example.com", "h2"); got != "h2" {
				t.Errorf("a handshake: %s", got)
			}
		})
	}
	all.Wait()
	s.Obtain()
	for name, want := range map[string]string{"AGENTS.example.com": "h2", "xn--bcher-kva.example.com": "h2", "other.example.com": "refused", "example.com": "refused", "../agents.example.com": "refused", "": "refused"} {
		if got := s.shake(name, "h2", "http/1.1"); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if got := s.shake("agents.example.com", "acme-tls/1"); got != "refused" {
		t.Errorf("the token after the verification: %s", got)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots, ServerName: "agents.example.com"}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	res, err := client.Get("https://" + s.address)
	must(t, err)
	res.Body.Close()
	if res.Proto != "HTTP/2.0" {
		t.Error(res.Proto)
	}
	again := newSite(t, from, folder, "agents.example.com", "bücher.example.com")
	again.Obtain()
	if got := again.shake("agents.example.com", "h2"); got != "h2" {
		t.Errorf("after a restart: %s", got)
	}
	from.mu.Lock()
	defer from.mu.Unlock()
	if from.checked != 2 || len(from.accounts) != 1 {
		t.Errorf("%d verifications of %d accounts", from.checked, len(from.accounts))
	}
	must(t, filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v", filepath.Base(path), info.Mode())
		}
		return err
	}))
	if w := append(s.log.warnings(), again.log.warnings()...); len(w) > 0 {
		t.Errorf("logged: %q", w)
	}
}

// A failure is one line with the authority's reason, and the authority is not asked again for
// a while, however many clients come.
func TestAuthorityFails(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		prepare      func(*authority)
		checks       int
	}{
		{"the domain leads elsewhere", "no handshake with agents.example.com", func(a *authority) { a.set(func() { a.site = a.Listener.Addr().String() }) }, 1},
		{"the domain is refused", "policy forbids it", func(a *authority) { a.set(func() { a.refuse = "policy forbids it" }) }, 0},
		{"the authority is down", "cannot be reached", func(a *authority) { a.Close() }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := newACME(t)
			s := newSite(t, from, t.TempDir(), "agents.example.com")
			tt.prepare(from)
			s.Obtain()
			for range 20 {
				if got := s.shake("agents.example.com", "h2"); got != "refused" {
					t.Errorf("a handshake: %s", got)
				}
			}
			from.mu.Lock()
			if from.checked != tt.checks {
				t.Errorf("%d verifications", from.checked)
			}
			from.mu.Unlock()
			w := s.log.warnings()
			if len(w) != 1 || !strings.Contains(w[0], tt.reason) || !strings.Contains(w[0], "port 443") {
				t.Errorf("logged: %q", w)
			}
			s.pass(3 * time.Minute)
			for range 20 {
				_ = s.shake("agents.example.com", "h2")
			}
			if w := s.log.warnings(); len(w) != 2 {
				t.Errorf("logged after three minutes: %q", w)
			}
		})
	}
}

// While the authority is slow, few handshakes wait for it; the others fail at once.
func TestAuthorityIsSlow(t *testing.T) {
	const most, clients = 64, 80
	from := newACME(t)
	from.hold = make(chan struct{})
	s := newSite(t, from, t.TempDir(), "agents.example.com")
	from.set(func() { from.site = s.address })
	answers := make(chan string, clients)
	for range clients {
		go func() { answers <- s.shake("agents.example.com", "h2") }()
	}
	for range clients - most {
		if got := <-answers; got != "refused" {
			t.Errorf("a handshake before there is a certificate: %s", got)
		}
	}
	close(from.hold)
	for range most {
		if got := <-answers; got != "h2" {
			t.Errorf("a handshake that waited: %s", got)
		}
	}
}
