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
}

type operationKey struct{}

// observe begins the operation of a request, below the span that the client names.
func (c *chain) observe(ctx context.Context, r *http.Request) (context.Context, *operation) {
	_, path := web.CutPrefix(r.URL.Path)
	if c.Telemetry == nil || slices.Contains([]string{"/health", "/ready", "/metrics"}, path) { // asked every few seconds
		return ctx, nil
	}
	ctx = telemetry.Continue(telemetry.With(ctx, c.Telemetry), r.Header.Get)
	o := &operation{method: telemetry.Method(r.Method)}
	ctx, o.op = telemetry.Start(ctx, telemetry.HTTPServer, o.method)
	if o.op.Recording() {
		o.op.String(telemetry.URLPath, web.LogPath(r.URL.Path))
	}
	return context.WithValue(ctx, operationKey{}, o), o
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
func (o *operation) end(rec *recorder) {
	if o == nil {
		return
	}
	o.op.String(telemetry.HTTPMethod, o.method)
	if o.route != "" {
		o.op.String(telemetry.HTTPRoute, o.route)
		o.op.Rename(o.method + " " + o.route)
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
