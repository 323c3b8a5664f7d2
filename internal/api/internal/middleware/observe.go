package middleware

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/telemetry"
)

// operation is a request as an operation of telemetry; nil for one that is not recorded.
type operation struct {
	op *telemetry.Op
	// route is the pattern of the route that answers.
	route  string
	method string
	// trace is the id of the request's trace, "" if it has none.
	trace string
}

type operationKey struct{}

// observe begins the operation of a request. It has no span until traced: refusals of strangers are
// in the metrics alone, so that a flood of them leaves room for other spans.
func (c *chain) observe(ctx context.Context, r *http.Request) (context.Context, *operation) {
	_, path := web.CutPrefix(r.URL.Path)
	if c.Telemetry == nil || slices.Contains([]string{"/health", "/ready", "/metrics"}, path) { // asked every few seconds
		return ctx, nil
	}
	ctx = telemetry.With(ctx, c.Telemetry)
	o := &operation{method: telemetry.Method(r.Method), op: telemetry.Measure(ctx, telemetry.HTTPServer)}
	return context.WithValue(ctx, operationKey{}, o), o
}

// traced begins the span of a request: below the one that the client names if its caller is known,
// else as a trace of its own with a link to that.
func traced(r *http.Request, known bool) *http.Request {
	ctx := r.Context()
	o, _ := ctx.Value(operationKey{}).(*operation)
	if o == nil {
		return r
	}
	named := telemetry.Continue(ctx, r.Header.Get)
	if known {
		ctx = o.op.Trace(named, o.method)
	} else {
		ctx = o.op.Trace(ctx, o.method)
		o.op.Link(telemetry.IDs(named))
	}
	o.trace, _ = telemetry.IDs(ctx)
	return r.WithContext(ctx)
}

// traceID returns the id of the request's trace, "" if it has none.
func (o *operation) traceID() string {
	if o == nil {
		return ""
	}
	return o.trace
}

// routed notes the route of a request that reaches one.
func routed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, _ := r.Context().Value(operationKey{}).(*operation)
		if o == nil {
			next.ServeHTTP(w, r)
			return
		}
		defer func() { // also if the handler panics
			if _, o.route, _ = strings.Cut(r.Pattern, " "); o.route == "" && r.Pattern != "/" {
				o.route = r.Pattern
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// end ends the operation with the response.
func (o *operation) end(rec *recorder, path string) {
	if o == nil {
		return
	}
	o.op.String(telemetry.HTTPMethod, o.method)
	if o.route != "" {
		o.op.String(telemetry.HTTPRoute, o.route)
		o.op.Rename(o.method + " " + o.route)
	} else if o.op.Recording() { // a route's path may have names
		o.op.String(telemetry.URLPath, web.LogPath(path))
	}
	status := rec.status
	if status == 0 { // the handler has panicked, or the client has gone
		o.op.End(context.Canceled)
		return
	}
	o.op.Int(telemetry.HTTPStatus, status)
	if status >= http.StatusInternalServerError {
		o.op.Fail(strconv.Itoa(status))
	}
	o.op.End(nil)
}
