package middleware

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/problem"
)

// valid refuses bodies that are not UTF-8 on the paths whose bodies other packages read: their
// decoders put U+FFFD in the place of what they cannot read. The other routes read theirs
// with package body.
func (c *chain) valid(next http.Handler) http.Handler {
	reader := body.Reader{Limits: c.Limits, Logger: c.Logger}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 || r.URL.Path != "/mcp" && r.URL.Path != "/a2a" && !strings.HasPrefix(r.URL.Path, "/a2a/") {
			next.ServeHTTP(w, r)
			return
		}
		text, p := reader.Bytes(w, r)
		if p != nil {
			problem.Write(w, r, p)
			return
		}
		read := *r
		read.Body, read.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		next.ServeHTTP(w, &read)
	})
}
