package middleware

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/outbound"
)

// guarded refuses requests that a page of another site made the user's browser send:
// through a name that resolves to this machine (DNS rebinding, seen in Host), or
// straight to it (seen in Sec-Fetch-Site and Origin).
func (c *chain) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := c.refuse(r); p != nil {
			problem.Write(w, r, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (c *chain) refuse(r *http.Request) *problem.Problem {
	switch {
	case !c.known(r.Host):
		return &problem.Problem{
			Status: http.StatusForbidden, Code: "host_not_allowed",
			Message: "this server does not answer to the host name of the request; use 127.0.0.1 or localhost, or add the name to P8_ALLOWED_HOSTS",
		}
	case c.foreign(r):
		return &problem.Problem{
			Status: http.StatusForbidden, Code: "origin_not_allowed",
			Message: "this server does not take requests from the pages of other sites; call it from a server of your own, or add the page's origin to P8_CORS_ORIGINS",
		}
	}
	return mistyped(r)
}

// allow lets pages of these origins send requests; config has checked them.
func (c *chain) allow(origins []string) {
	for _, origin := range origins {
		if err := c.pages.AddTrustedOrigin(origin); err != nil {
			c.Logger.Warn("an allowed origin is not valid", "origin", origin, "error", err)
		}
	}
}

// foreign reports whether a page of another origin sent the request. A page on another
// port of this machine is another origin.
func (c *chain) foreign(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch origin := r.Header.Get("Origin"); {
	case safe && origin == "":
		return false // a link that the user followed: no page can read the answer
	case c.shares(origin):
		return false
	}
	// Check allows every safe method. Here their answers may hold a user's data.
	acting := *r
	acting.Method = http.MethodPost
	return c.pages.Check(&acting) != nil
}

// mistyped refuses a body whose media type a page can send without the browser's
// preflight: none at all, text/plain, a form. p8 reads one form, that of an upload.
func mistyped(r *http.Request) *problem.Problem {
	if r.ContentLength == 0 {
		return nil
	}
	if c := r.Header.Get("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") {
		return problem.UnsupportedMedia("the body must not be compressed; send it without the header Content-Encoding")
	}
	t, err := web.MediaType(r)
	if err != nil {
		t = ""
	}
	switch path := web.Path(r.URL.Path); {
	case path == body.UploadPath:
		if t != "multipart/form-data" {
			return body.NotForm()
		}
	case web.IsJSON(t):
	case path == "/schemas" || strings.HasPrefix(path, "/schemas/"):
		if !web.IsYAML(t) {
			return problem.UnsupportedMedia("a document is JSON or YAML; send the header Content-Type: application/json or application/yaml")
		}
	default:
		return problem.UnsupportedMedia("the body must be JSON; send the header Content-Type: application/json")
	}
	return nil
}

// known reports whether host, with or without a port, is this machine or a name that
// the operator allows.
func (c *chain) known(host string) bool {
	if slices.Contains(c.Hosts, "*") {
		return true
	}
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if outbound.IsLocalName(name) || outbound.IsLoopback(name) {
		return true
	}
	return slices.ContainsFunc(c.Hosts, func(allowed string) bool { return strings.EqualFold(allowed, name) })
}
