package edge

import (
	"bytes"
	"crypto/tls"
	"errors"
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
	cert, key, err := readPEM(c.cert, c.key)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		// What Go says of it names no file.
		return errors.New("the key is not the certificate's, or one of the two is damaged or has a password")
	}
	c.current, c.changed = &pair, changed
	return nil
}

// readPEM reads the two files, and says which of them is no PEM.
func readPEM(cert, key string) (certPEM, keyPEM []byte, err error) {
	for _, f := range []struct {
		path, what, block string
		into              *[]byte
	}{{cert, "the file of the certificate", "CERTIFICATE", &certPEM}, {key, "the file of the key", "PRIVATE KEY", &keyPEM}} {
		raw, err := os.ReadFile(f.path)
		switch {
		case err != nil:
			return nil, nil, errors.New(f.what + " cannot be read")
		case !bytes.Contains(raw, []byte(f.block+"-----")):
			return nil, nil, fmt.Errorf("%s has no block of PEM that ends with %q", f.what, f.block+"-----")
		}
		*f.into = raw
	}
	return certPEM, keyPEM, nil
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
