package auth

import (
	"net/http"
	"time"
)

// gateway reports whether the connection of a request is that of a gateway: its client
// certificate was verified in the TLS handshake. No header can say that. A connection may
// live longer than its certificate; until is when the certificate expires.
func (a *Authenticator) gateway(r *http.Request) (until time.Time, ok bool) {
	if !a.o.Gateways || r.TLS == nil {
		return time.Time{}, false
	}
	for _, chain := range r.TLS.VerifiedChains {
		if len(chain) == 0 {
			continue
		}
		end := chain[0].NotAfter
		for _, cert := range chain[1:] {
			if cert.NotAfter.Before(end) {
				end = cert.NotAfter
			}
		}
		if end.After(until) {
			until = end
		}
	}
	return until, a.o.Now().Before(until)
}

// hasToken reports whether a request has a token, of whatever kind.
func hasToken(h http.Header) bool {
	return len(h.Values("Authorization"))+len(h.Values("X-Api-Key")) > 0
}
