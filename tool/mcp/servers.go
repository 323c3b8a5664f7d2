package mcp

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/p8-org/p8/tool"
)

// Options name the servers and bound their costs. The zero value works: the process's
// own environment and no file.
type Options struct {
	// Getenv reads the variables of the file and of a server's program; Environ has
	// the variables MCP_SERVER_<NAME>. nil is the process's own.
	Getenv  func(string) string
	Environ []string
	// ConfigFile is an mcpServers file; "" for no file.
	ConfigFile string
	// HTTPClient's transport sends the requests to servers.
	HTTPClient *http.Client
	// ConnectTimeout bounds connecting and listing, 10 s when 0; CallTimeout a call
	// whose context has no deadline, 2 minutes when 0.
	ConnectTimeout, CallTimeout time.Duration
	// IdleTimeout ends an unused connection; 15 minutes when 0.
	IdleTimeout time.Duration
	// MaxText and MaxData bound a result in bytes: 1 MiB of text and 10 MiB of
	// files when 0.
	MaxText, MaxData int
	// Logins keep the logins of persons; nil if nobody can sign in.
	Logins Logins
	// Redact returns what hides secrets of one call; nil for nothing.
	Redact func() Redaction
	// Version is p8's, for servers.
	Version string
	Logger  *slog.Logger
}

// The defaults of Options.
const (
	defaultConnectTimeout = 10 * time.Second
	defaultCallTimeout    = 2 * time.Minute
	defaultIdleTimeout    = 15 * time.Minute
	defaultMaxText        = 1 << 20
	defaultMaxData        = 10 << 20
)

// closeWithin bounds Close: a program gets endAfter twice and is then killed.
const closeWithin = 2*endAfter + 2*time.Second

// Servers are the MCP servers of this process by name. They implement [tool.Servers]
// and are safe for concurrent use.
type Servers struct {
	o       Options
	base    http.RoundTripper
	own     *http.Transport
	ctx     context.Context
	cancel  context.CancelFunc
	servers map[string]closer
	names   []string
	mu      sync.Mutex
	// opened are the servers that no setting names.
	opened []closer
	// work are the goroutines of all connections.
	work sync.WaitGroup
}

// New reads the names of all servers and connects to none. The error names every
// problem of the environment and the file.
func New(o Options) (*Servers, error) {
	o = o.withDefaults()
	entries, err := readConfig(o)
	if err != nil {
		return nil, err
	}
	s := &Servers{o: o, servers: make(map[string]closer, len(entries))}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if o.HTTPClient != nil && o.HTTPClient.Transport != nil {
		s.base = o.HTTPClient.Transport
	} else {
		s.own = newTransport()
		s.base = s.own
	}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		s.servers[k] = s.newServer(entries[k])
		s.names = append(s.names, entries[k].name)
	}
	slices.Sort(s.names)
	return s, nil
}

// closer is a server of this process.
type closer interface {
	tool.Server
	close()
}

func (s *Servers) newServer(e *entry) closer {
	if s.o.Logins != nil && e.asksPerson() {
		return &personal{server: newServer(s, e)}
	}
	return newServer(s, e)
}

// newTransport returns a transport that only these servers use, so that they can close
// its connections.
func newTransport() *http.Transport {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment}
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.ConnectTimeout = positive(o.ConnectTimeout, defaultConnectTimeout)
	o.CallTimeout = positive(o.CallTimeout, defaultCallTimeout)
	o.IdleTimeout = positive(o.IdleTimeout, defaultIdleTimeout)
	o.MaxText = positive(o.MaxText, defaultMaxText)
	o.MaxData = positive(o.MaxData, defaultMaxData)
	return o
}

func positive[T int | time.Duration](v, other T) T {
	if v > 0 {
		return v
	}
	return other
}

// Names returns the names of the servers, sorted.
func (s *Servers) Names() []string { return slices.Clone(s.names) }

// Server returns the server of that name, nil for an unknown one. Dashes and
// underscores are the same.
func (s *Servers) Server(name string) tool.Server {
	if found, ok := s.servers[key(name)]; ok {
		return found
	}
	return nil
}

// Close ends every connection and every program, within a few seconds. Calls under way
// fail.
func (s *Servers) Close() error {
	var closing sync.WaitGroup
	s.mu.Lock()
	for _, server := range s.opened {
		closing.Go(server.close)
	}
	for _, server := range s.servers {
		closing.Go(server.close)
	}
	// This ends calls that wait for an answer, and attempts to connect.
	s.cancel()
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		closing.Wait()
		s.work.Wait()
		close(done)
	}()
	late := time.NewTimer(closeWithin)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		s.o.Logger.Warn("an MCP server did not end in time")
	}
	if s.own != nil {
		s.own.CloseIdleConnections()
	}
	return nil
}
