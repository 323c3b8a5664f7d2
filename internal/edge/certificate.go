package edge

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Certificate is a certificate in two files.
type Certificate struct {
	cert, key string
	log       *slog.Logger
	now       func() time.Time

	mu      sync.Mutex
	current *tls.Certificate
	looked  time.Time
	changed [2]time.Time // of the files that were read
}

// lookEvery is how often the files are looked at.
const lookEvery = time.Second

// LoadCertificate reads a certificate and its key, both PEM.
func LoadCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log, now: time.Now}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// Config returns the configuration of a server: TLS 1.2 and later, HTTP/2.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(), nil },
	}
}

// get returns the certificate. Files that have changed are read again; while they do not fit
// together, as between the two writes of a renewal, the one before counts.
func (c *Certificate) get() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < lookEvery {
		return c.current
	}
	c.looked = now
	if c.times() != c.changed {
		if err := c.read(); err != nil {
			c.log.Warn("the new certificate cannot be used; the one before stays", "error", err)
		} else {
			c.log.Info("the certificate was read again")
		}
	}
	return c.current
}

func (c *Certificate) read() error {
	changed := c.times()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("the certificate and its key cannot be used together: %w", err)
	}
	c.current, c.changed = &pair, changed
	return nil
}

// times returns when the files changed.
func (c *Certificate) times() (at [2]time.Time) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			at[i] = info.ModTime()
		}
	}
	return at
}
