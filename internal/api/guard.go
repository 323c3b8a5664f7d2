package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guarded refuses requests that a page of another site made the user's browser
// send: by a name that resolves to this machine (DNS rebinding, seen in Host)
// or straight to it (seen in Sec-Fetch-Site and Origin).
func (h *Handler) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.known(r.Host) {
			h.fail(w, r, &failure{
				status: http.StatusForbidden, code: "host_not_allowed",
				message: "this server does not answer to the host name of the request; use 127.0.0.1 or localhost, or add the name to P8_ALLOWED_HOSTS",
			})
			return
		}
		if h.foreign(r) {
			h.fail(w, r, &failure{
				status: http.StatusForbidden, code: "origin_not_allowed",
				message: "this server does not take requests from the pages of other sites; call it from a server of your own, or add the page's origin to P8_ALLOWED_ORIGINS",
			})
			return
		}
		if f := mistyped(r); f != nil {
			h.fail(w, r, f)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// origins allows requests from pages of these origins; config has checked them.
func (h *Handler) origins(allowed []string) {
	for _, origin := range allowed {
		if err := h.pages.AddTrustedOrigin(origin); err != nil {
			h.o.Logger.Warn("an allowed origin is not valid", "origin", origin, "error", err)
		}
	}
}

// foreign reports whether a page of another origin sent the request. A page on
// another port of this machine is another origin.
func (h *Handler) foreign(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	if safe && r.Header.Get("Origin") == "" {
		return false // a link that was followed: no page can read what it answers
	}
	// Check lets every safe method pass; here the answer may be a user's.
	acting := *r
	acting.Method = http.MethodPost
	return h.pages.Check(&acting) != nil
}

// mistyped refuses a body whose media type a page could send without asking the
// browser's permission first: none at all, text/plain, a form. The one form that p8
// reads is that of an upload.
func mistyped(r *http.Request) *failure {
	if r.ContentLength == 0 {
		return nil
	}
	t, err := mediaType(r)
	if err != nil {
		t = ""
	}
	switch path := plainPath(r.URL.Path); {
	case path == contentPath:
		if t != "multipart/form-data" {
			return notForm()
		}
	case isJSON(t):
	case path == "/schemas" || strings.HasPrefix(path, "/schemas/"):
		if !isYAML(t) {
			return unsupported("a document is JSON or YAML; send the header Content-Type: application/json or application/yaml")
		}
	default:
		return unsupported("the body must be JSON; send the header Content-Type: application/json")
	}
	return nil
}

func unsupported(message string) *failure {
	return &failure{status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", message: message}
}

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json")
}

// isYAML: application/yaml (RFC 9512) and its older names.
func isYAML(mediaType string) bool {
	switch mediaType {
	case "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml":
		return true
	}
	return strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+yaml")
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
