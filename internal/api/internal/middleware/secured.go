package middleware

import "net/http"

// secured sets the headers that keep a browser from making more of a response than data: no
// guessed type, no address in Referer, no page and no frame, no copy on a disk. Routes
// replace Cache-Control where they mean otherwise.
func (c *chain) secured(h http.Header, tls bool) {
	h["X-Content-Type-Options"] = c.fixed.nosniff
	h["Referrer-Policy"] = c.fixed.noReferrer
	h["Content-Security-Policy"] = c.fixed.policy
	h["Cache-Control"] = c.fixed.noStore
	if tls {
		h["Strict-Transport-Security"] = c.fixed.strict
	}
}

// fixed are values of headers that all responses share, so that none is made for each. Nobody
// writes into them: http.Header replaces a value, or appends to a copy.
type fixed struct{ nosniff, noReferrer, policy, noStore, strict []string }

func newFixed() fixed {
	return fixed{
		nosniff: []string{"nosniff"}, noReferrer: []string{"no-referrer"}, policy: []string{"default-src 'none'; frame-ancestors 'none'"},
		noStore: []string{"no-store"}, strict: []string{"max-age=31536000"},
	}
}
