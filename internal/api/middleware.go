package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
)

// headerRequestID names a request in the log, for whoever asks about it.
const headerRequestID = "X-Request-Id"

type requestIDKey struct{}

// requestID is the id of the request that ctx belongs to.
func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// recorder notes what was answered, and bounds the time that a client may take
// to read it, from the first byte on: before that the run may take its time.
type recorder struct {
	http.ResponseWriter
	timeout time.Duration
	status  int
	bytes   int64
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.deadline(time.Now().Add(w.timeout))
	}
	w.ResponseWriter.WriteHeader(status)
}

// deadline is that of the connection's writes; a connection without deadlines
// has none to set.
func (w *recorder) deadline(t time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logged gives the request an id, the client's own where it sent a proper one,
// and writes one line when it is over: no body, no header, no query.
func (h *Handler) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := h.o.Now()
		id := r.Header.Get(headerRequestID)
		if identity.ValidateID(headerRequestID, id) != nil {
			id = h.o.NewID()
		}
		w.Header().Set(headerRequestID, id)
		rec := &recorder{ResponseWriter: w, timeout: h.o.WriteTimeout}
		rec.deadline(time.Time{}) // that of the connection's last request is over
		ctx := context.WithValue(r.Context(), requestIDKey{}, id)
		next.ServeHTTP(rec, r.WithContext(ctx))
		h.o.Logger.LogAttrs(ctx, slog.LevelInfo, "request",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", rec.status),
			slog.Int64("bytes", rec.bytes), slog.Duration("took", h.o.Now().Sub(start).Round(time.Microsecond)),
			slog.String("request_id", id))
	})
}

// recovered turns a panic into a 500, or cuts the connection when the answer
// has begun.
func (h *Handler) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler:
				panic(p)
			default:
				h.o.Logger.ErrorContext(r.Context(), "panic", "panic", p, "stack", string(debug.Stack()),
					"request_id", requestID(r.Context()))
				if rec, ok := w.(*recorder); ok && rec.status != 0 {
					panic(http.ErrAbortHandler)
				}
				h.fail(w, r, internal(r.Context()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// bounded refuses a body that says it is too long and cuts one that is.
func (h *Handler) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, refused := h.o.MaxBody, tooLarge(h.o.MaxBody)
		if plainPath(r.URL.Path) == contentPath {
			limit, refused = h.o.MaxUpload+uploadOverhead, uploadTooLarge(h.o.MaxUpload)
		}
		if r.ContentLength > limit {
			w.Header().Set("Connection", "close") // the rest is not worth reading
			h.fail(w, r, refused)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		next.ServeHTTP(w, r)
	})
}

// identified puts the caller's identity into the context. What needs none gets
// none, so that a bad header does not make a health check fail.
func (h *Handler) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/", "/health", "/ready", "/openapi.json":
			next.ServeHTTP(w, r)
			return
		}
		id, err := identity.FromRequest(r, h.o.TrustHeaders)
		if err != nil {
			h.fail(w, r, h.describe(r.Context(), err))
			return
		}
		next.ServeHTTP(w, r.WithContext(identity.With(r.Context(), id)))
	})
}

// plainPath is a path without what rooted takes off.
func plainPath(path string) string {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(path, p); ok {
			path = rest
			break
		}
	}
	return strings.TrimSuffix(path, "/")
}

// isTooLarge reports whether a body was cut by bounded.
func isTooLarge(err error) bool {
	var e *http.MaxBytesError
	return errors.As(err, &e)
}
