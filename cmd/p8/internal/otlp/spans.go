package otlp

import (
	"context"
	"log/slog"
	"sync/atomic"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// SpanOptions configure NewSpans.
type SpanOptions struct {
	Client *Client
	// Clean returns a text without secrets and personal data.
	Clean func(string) string
	// MaxText is the longest text of an attribute, in bytes; MaxCount the most attributes of a
	// span, and the most events.
	MaxText, MaxCount int
	Logger            *slog.Logger
}

// NewSpans returns the exporter of spans. A collector that fails is reported once, until it
// works again; the spans of failed requests are lost.
func NewSpans(o SpanOptions) sdktrace.SpanExporter {
	s := &spans{SpanOptions: o, health: Health{Client: o.Client, Logger: o.Logger}}
	s.SpanExporter = otlptrace.NewUnstarted(upload{s})
	return s
}

type spans struct {
	sdktrace.SpanExporter
	SpanOptions
	health Health
}

// ExportSpans cleans and sends spans.
func (s *spans) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	clean := make([]sdktrace.ReadOnlySpan, len(list))
	for i, span := range list {
		clean[i] = s.clean(span)
	}
	return s.SpanExporter.ExportSpans(ctx, clean)
}

// upload is the client of otlptrace, which converts spans to messages.
type upload struct{ *spans }

func (upload) Start(context.Context) error { return nil }
func (upload) Stop(context.Context) error  { return nil }

// UploadTraces returns no error: the SDK would print it.
func (u upload) UploadTraces(ctx context.Context, list []*tracepb.ResourceSpans) error {
	u.health.Report(u.Client.Send(ctx, Traces(), &tracepb.TracesData{ResourceSpans: list}))
	return nil
}

// Health reports when requests to a collector begin to fail, and when they work again.
type Health struct {
	Client *Client
	Logger *slog.Logger
	failed atomic.Bool
}

// Report takes the result of a request.
func (h *Health) Report(err error) {
	switch was := h.failed.Swap(err != nil); {
	case err != nil && !was:
		h.Logger.Warn("the OpenTelemetry collector does not take what p8 sends, which is lost until it does: check P8_OTEL_COLLECTOR_ENDPOINT and P8_OTEL_PROTOCOL",
			"endpoint", h.Client.shown, "error", err)
	case err == nil && was:
		h.Logger.Warn("the OpenTelemetry collector works again", "endpoint", h.Client.shown)
	}
}
