// Package middleware is what every request passes before its route.
//
// In this order: a request id, the access log and the headers of every response, recovery from
// panics, CORS, the time for the body, the check of Host, Origin and media type, the limit of
// the body, the address of a share, the path without its prefix, the caller's identity and quota,
// the text of bodies that other packages read.
package middleware

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/telemetry"
)

// Options are what the middleware works with.
type Options struct {
	// Identify returns the caller of a request; its error is fit for the client.
	Identify func(*http.Request) (identity.Identity, error)
	// Visit gives a secret to a caller without a token, on a server that lets them in.
	Visit func(http.ResponseWriter, *http.Request)
	// Bound returns the context of a request, which ends when the caller's token does.
	Bound func(*http.Request, identity.Identity) (context.Context, context.CancelFunc)
	// Shares opens shared sessions; nil on a server without a database. ShareLinks opens the
	// links among them to whoever has one, without a token.
	Shares     Shares
	ShareLinks bool
	// ShareCheck is how often an open request asks whether its share is over; 2 s when 0.
	ShareCheck time.Duration
	// Admit counts a request of the caller in ctx, or refuses it; nil counts none.
	Admit func(context.Context) (quota.Standing, error)
	// AdmitStranger counts a request of a caller whose token is wrong, and a login; nil counts none.
	AdmitStranger func(context.Context) (quota.Standing, error)
	// Proxies are networks whose X-Forwarded-For names the address of the client.
	Proxies []netip.Prefix
	// Telemetry records requests; nil records none.
	Telemetry *telemetry.Telemetry
	// Meter counts refusals and streams; nil counts none.
	Meter Meter
	// Hosts are the names, besides those of loopback, that the Host header may have;
	// "*" is any. Origins are those whose pages may send requests.
	Hosts, Origins []string
	// CORS are the origins whose pages may also read the responses; "*" is any.
	CORS   []string
	Limits body.Limits
	// Base returns the server's address for the client of a request; nil if the server
	// describes no way to get a token.
	Base func(*http.Request) string
	// WriteTimeout is how long a response waits for a client that does not read.
	WriteTimeout time.Duration
	Now          func() time.Time
	NewID        func() string
	Logger       *slog.Logger
}

// chain is the middleware of one handler.
type chain struct {
	Options
	describe problem.Describer
	pages    *http.CrossOriginProtection
	fixed    fixed
}

// New puts the middleware before next.
func New(o Options, next http.Handler) http.Handler {
	c := &chain{Options: o, describe: problem.Describer{Logger: o.Logger}, pages: http.NewCrossOriginProtection(), fixed: newFixed()}
	c.allow(o.Origins)
	return c.logged(c.recovered(c.shared(timed(c.guarded(c.bounded(c.opened(c.rooted(c.identified(c.valid(routed(next)))))))))))
}

// logged gives the request an id, the client's own if it is a valid one, and logs one
// line when the request ends, with the ids of its run and trace: no body, no other
// header, no query.
func (c *chain) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := c.Now()
		id := r.Header.Get(web.HeaderRequestID)
		if identity.ValidateID(web.HeaderRequestID, id) != nil {
			id = c.NewID()
		}
		w.Header().Set(web.HeaderRequestID, id)
		c.secured(w.Header(), r.TLS != nil)
		rec := &recorder{ResponseWriter: w, timeout: c.WriteTimeout, meter: c.Meter, path: r.URL.Path}
		defer rec.ended()
		rec.deadline(time.Time{}) // clear that of the connection's last request
		ctx := identity.WithOrigin(web.WithRequestID(r.Context(), id), identity.Origin{RequestID: id, Address: c.address(r)})
		ctx, observed := c.observe(ctx, r)
		defer observed.end(rec, r.URL.Path)
		next.ServeHTTP(rec, r.WithContext(ctx))
		if !c.Logger.Enabled(ctx, slog.LevelInfo) {
			return
		}
		line := []slog.Attr{slog.String("method", r.Method), slog.String("path", web.LogPath(r.URL.Path)), slog.Int("status", rec.status),
			slog.Int64("bytes", rec.bytes), slog.Duration("took", c.Now().Sub(start).Round(time.Microsecond)), slog.String("request_id", id)}
		if run := rec.Header().Get(web.HeaderRunID); run != "" {
			line = append(line, slog.String("run", run))
		}
		if trace := cmp.Or(observed.traceID(), traceID(r.Header.Get("Traceparent"))); trace != "" {
			line = append(line, slog.String("trace_id", trace))
		}
		c.Logger.LogAttrs(ctx, slog.LevelInfo, "request", line...)
	})
}

// traceID returns the trace of a traceparent header (W3C Trace Context, §3.2), "" if it is
// not one.
func traceID(parent string) string {
	parts := strings.SplitN(parent, "-", 4)
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 {
		return ""
	}
	if raw, err := hex.DecodeString(parts[1]); err != nil || strings.ToLower(parts[1]) != parts[1] || slices.Max(raw) == 0 {
		return ""
	}
	return parts[1]
}

// recovered turns a panic into a 500, or cuts the connection if the response has
// begun.
func (c *chain) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler:
				panic(p)
			default:
				c.Logger.ErrorContext(r.Context(), "panic", "panic", p, "stack", string(debug.Stack()),
					"request_id", web.RequestID(r.Context()))
				if rec, ok := w.(*recorder); ok && rec.status != 0 {
					panic(http.ErrAbortHandler)
				}
				problem.Write(w, r, problem.Internal(r.Context()))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// timed bounds the time that the client may take to send the body.
func timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			known := *r
			known.Body = body.Timed(w, r.Body)
			r = &known
		}
		next.ServeHTTP(w, r)
	})
}

// bounded refuses a body whose declared length is over the limit, and cuts a body without a
// length at the limit.
func (c *chain) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, tooLarge := c.Limits.For(r.URL.Path)
		if r.ContentLength > limit {
			w.Header().Set("Connection", "close") // the rest is not worth reading
			problem.Write(w, r, tooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		next.ServeHTTP(w, r)
	})
}

// rooted removes the prefix and a trailing slash from the path, so that each route is
// registered once.
func (c *chain) rooted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := *r.URL
		var prefix string
		prefix, u.Path = web.CutPrefix(u.Path)
		u.RawPath = strings.TrimPrefix(u.RawPath, prefix)
		if escaped := u.EscapedPath(); len(escaped) > 1 && strings.HasSuffix(escaped, "/") {
			u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
		}
		rooted := *r
		rooted.URL = &u
		next.ServeHTTP(w, &rooted)
	})
}

// identified puts the caller's identity into the context, which ends when the caller's
// token does. Routes that need none get none, so that a bad header does not fail a health
// check.
func (c *chain) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		share, through := r.Context().Value(doorKey{}).(string)
		switch r.URL.Path {
		case "/", "/health", "/ready", "/openapi.json", "/auth/login", auth.MetadataPath, auth.MetadataPath + "/mcp":
			if !through {
				if p := c.login(w, r); p != nil {
					problem.Write(w, r, p)
					return
				}
				next.ServeHTTP(w, traced(r, false))
				return
			}
		}
		if !through {
			c.Visit(w, r)
		}
		id, err := c.Identify(r)
		unknown := err != nil || id.Visitor()
		if id, r, err = c.enter(r, id, err); err != nil {
			p := c.refused(w, r, err)
			if unknown && p.Status != http.StatusServiceUnavailable {
				if limit := c.stranger(w, r); limit != nil {
					p = limit
					w.Header().Del("WWW-Authenticate") // another token would not help
				}
			}
			problem.Write(w, r, p)
			return
		}
		r = traced(r, !unknown)
		ctx, cancel := c.Bound(r.WithContext(identity.With(r.Context(), id)), id)
		defer cancel()
		if through {
			var left context.CancelFunc
			ctx, left = c.watched(ctx, id, share)
			defer left()
		}
		if c.Admit != nil {
			standing, err := c.Admit(ctx)
			standing.Set(w.Header())
			if err != nil {
				problem.Write(w, r, c.describe.Describe(ctx, err))
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refused returns the problem of a caller who is not known. A wrong token is the client's
// mistake: only the line of the request is in the log.
func (c *chain) refused(w http.ResponseWriter, r *http.Request, err error) *problem.Problem {
	refused := (*auth.Refused)(nil)
	if !errors.As(err, &refused) {
		return c.describe.Describe(r.Context(), err)
	}
	p := problem.Refused(refused)
	if p.Status != http.StatusServiceUnavailable {
		w.Header().Set("WWW-Authenticate", refused.Challenge(c.metadata(r)))
	}
	return p
}

// metadata is the address of the metadata of the resource at a path (RFC 9728): /mcp, or
// the whole server. It is "" if the server names no provider.
func (c *chain) metadata(r *http.Request) string {
	switch {
	case c.Base == nil:
		return ""
	case r.URL.Path == "/mcp":
		return c.Base(r) + auth.MetadataPath + "/mcp"
	}
	return c.Base(r) + auth.MetadataPath
}
