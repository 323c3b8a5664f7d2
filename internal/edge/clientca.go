package edge

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// LoadCA reads the certificates of authorities, PEM.
func LoadCA(file string) (*x509.CertPool, error) {
	rest, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	}
	pool, found := x509.NewCertPool(), false
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("the file has a %s, which does not belong here", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("the file has a broken certificate: %w", err)
		}
		if !cert.IsCA {
			return nil, fmt.Errorf("the certificate of %q is not that of an authority", cert.Subject.CommonName)
		}
		pool.AddCert(cert)
		found = true
	}
	if !found || bytes.Contains(rest, []byte("-----BEGIN")) {
		return nil, errors.New("the file has no certificate, or a broken one")
	}
	return pool, nil
}
