package peer

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
)

// challenged reports whether a server refused the token of a request. A refused password has
// the same status.
func challenged(res *http.Response) bool {
	return res.StatusCode == http.StatusUnauthorized && res.Header.Get("WWW-Authenticate") != ""
}

// UnsignedError is the error of a server that wants a token, if P8_SERVER_TOKEN is not set.
type UnsignedError struct {
	// Refusal is the server's text.
	Refusal error
	base    string
}

// Error also says how to sign in.
func (e *UnsignedError) Error() string {
	return fmt.Sprintf("%v; sign in with `p8 login %s`, or set P8_SERVER_TOKEN", e.Refusal, e.base)
}

// distrust returns the error of a server whose certificate does not count, nil for another one.
func (r *Server) distrust(err error) error {
	var invalid *tls.CertificateVerificationError
	var name x509.HostnameError
	var wrong x509.CertificateInvalidError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("the server at %s has no TLS: give an address that begins with http://", r.base.Redacted())
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of %s is for another name: give the address that it is for", r.base.Redacted())
	case errors.As(err, &wrong) && wrong.Reason == x509.Expired:
		return fmt.Errorf("the certificate of %s has expired, or counts only later: renew it on the server, or set the clock of this machine", r.base.Redacted())
	case errors.As(err, &invalid):
		return fmt.Errorf("this machine does not trust the certificate of %s: add the authority that signed it to the system's certificates, or on Linux name its PEM file in SSL_CERT_FILE", r.base.Redacted())
	}
	return nil
}

// refusal returns the error of a problem document.
func refusal(base *url.URL, status int, answer []byte) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("the server at %s answers with status %d: check its address, and that it is this version of p8", base.Redacted(), status)
	}
	err := errors.New(strings.Join(strings.Fields(show.Visible(problem.Detail)), " "))
	if status == http.StatusNotFound {
		return missing{err}
	}
	return err
}

// missing is the error of a server that does not have what was asked for.
type missing struct{ error }

// IsMissing reports whether a server does not have what was asked for.
func IsMissing(err error) bool { return errors.As(err, new(missing)) }
