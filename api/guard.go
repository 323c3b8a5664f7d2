package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guarded refuses requests that a page of another site made the user's browser
// send: by a name that resolves to this machine (DNS rebinding, seen in Host)
// or straight to it (seen in Origin).
func (h *Handler) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.known(r.Host) {
			h.fail(w, r, &failure{
				status: http.StatusForbidden, code: "host_not_allowed",
				message: "this server does not answer to the host name of the request; use 127.0.0.1 or localhost, or add the name to P8_ALLOWED_HOSTS",
			})
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !h.knownOrigin(origin) {
			h.fail(w, r, &failure{
				status: http.StatusForbidden, code: "origin_not_allowed",
				message: "this server does not take requests from the pages of other sites; call it from a server of your own, or add the page's host to P8_ALLOWED_HOSTS",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// knownOrigin reports whether a page of this origin may call; "null" may not.
func (h *Handler) knownOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && h.known(u.Host)
}

// known reports whether host, with or without a port, is this machine or a name
// that the operator allows.
func (h *Handler) known(host string) bool {
	if slices.Contains(h.o.Hosts, "*") {
		return true
	}
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	return slices.ContainsFunc(h.o.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}
