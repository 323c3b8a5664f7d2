package api

import (
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// unknown answers requests without a route: 405 with the path's methods, or 404.
func unknown(mux *rest.Mux, version string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			index(w, version)
			return
		}
		if methods := methods(mux, r); len(methods) > 0 {
			allow := strings.Join(methods, ", ")
			w.Header().Set("Allow", allow)
			problem.Write(w, r, &problem.Problem{
				Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
				Message: "this path takes " + allow + ", not " + web.Cut(r.Method),
			})
			return
		}
		problem.Write(w, r, &problem.Problem{
			Status: http.StatusNotFound, Code: "unknown_url",
			Message: "there is nothing at this path; chat is at POST /v1/chat/completions, and GET /openapi.json lists the rest",
		})
	}
}

// methods returns the methods that the request's path takes.
func methods(mux *rest.Mux, r *http.Request) []string {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := *r
		probe.Method = m
		if pattern := mux.Pattern(&probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, m)
		}
	}
	return allowed
}
