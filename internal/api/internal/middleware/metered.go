package middleware

import (
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/web"
)

// Meter counts refused requests and open streams. Its labels have few values.
type Meter interface {
	// Refused counts a request that was refused with a status (401, 403, 429 or 503); reason is the
	// code of the problem, "other" if another package worded it.
	Refused(status int, reason string)
	// Streams adds n to the open streams of a protocol.
	Streams(protocol string, n int)
}

// NoteProblem implements web.Noter.
func (w *recorder) NoteProblem(code string) { w.code = code }

// NoteProtocol implements web.Noter.
func (w *recorder) NoteProtocol(protocol string) { w.protocol = protocol }

// opened counts the response if it is a stream. The headers are about to be sent.
func (w *recorder) opened() {
	if w.meter != nil && strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		if w.protocol == "" {
			w.protocol = protocolAt(w.path)
		}
		w.streams = true
		w.meter.Streams(w.protocol, 1)
	}
}

// ended counts the response when it is over.
func (w *recorder) ended() {
	if w.meter == nil {
		return
	}
	if w.streams {
		w.meter.Streams(w.protocol, -1)
	}
	switch w.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if w.code == "" {
			w.code = "other"
		}
		w.meter.Refused(w.status, w.code)
	}
}

// protocolAt returns the protocol of streams at a path that do not say which they have.
func protocolAt(path string) string {
	switch path = web.Path(path); {
	case path == "/mcp", path == "/notifications":
		return path[1:]
	case path == "/a2a", strings.HasPrefix(path, "/a2a/"):
		return "a2a"
	}
	return "other"
}
