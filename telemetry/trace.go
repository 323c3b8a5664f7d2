package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// IDs returns the ids of the context's trace and span in hexadecimal, both "" if there are
// none.
func IDs(ctx context.Context) (traceID, spanID string) {
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		return s.TraceID().String(), s.SpanID().String()
	}
	return "", ""
}

// Propagate calls set with the headers of W3C Trace Context that tell a callee or a later
// process the context's span: traceparent. Baggage is not passed on.
func Propagate(ctx context.Context, set func(key, value string)) {
	if From(ctx) != nil {
		propagation.TraceContext{}.Inject(ctx, carrier{set: set})
	}
}

// Continue returns a context whose operations are children of the span that the header
// traceparent names. get returns a header, "" for none. An invalid one changes nothing, and
// tracestate is not read: it is the caller's own text, which nobody here needs.
func Continue(ctx context.Context, get func(key string) string) context.Context {
	if From(ctx) == nil {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, carrier{get: func(key string) string {
		if key != traceparent {
			return ""
		}
		return get(key)
	}})
}

// Parent returns the context's span as a traceparent header, "" if there is none.
func Parent(ctx context.Context) string {
	if From(ctx) == nil {
		return ""
	}
	parent := ""
	Propagate(ctx, func(key, value string) {
		if key == traceparent {
			parent = value
		}
	})
	return parent
}

// ContinueParent is Continue with the result of Parent.
func ContinueParent(ctx context.Context, parent string) context.Context {
	if parent == "" {
		return ctx
	}
	return Continue(ctx, func(string) string { return parent })
}

const traceparent = "traceparent"

type carrier struct {
	get func(string) string
	set func(string, string)
}

func (c carrier) Get(key string) string { return c.get(key) }
func (c carrier) Set(key, value string) { c.set(key, value) }
func (c carrier) Keys() []string        { return nil }
