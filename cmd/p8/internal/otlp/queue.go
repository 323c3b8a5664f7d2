package otlp

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// What may wait for the collector: spans, and bytes of their texts.
const (
	maxWaiting = 2048
	maxBytes   = 64 << 20
)

// Queue hands ended spans to an exporter in batches, beside the work that they are about. Spans that
// find no room are lost, and counted.
type Queue struct {
	sdktrace.SpanProcessor
	options SpanOptions
	lost    atomic.Int64
	warn    sync.Once

	mu           sync.Mutex
	spans, bytes int
}

// NewQueue returns a queue before NewSpans(o).
func NewQueue(o SpanOptions) *Queue {
	q := &Queue{options: o}
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(leaving{NewSpans(o), q}, sdktrace.WithMaxQueueSize(maxWaiting))
	return q
}

// Lost returns how many spans found no room; 0 for nil.
func (q *Queue) Lost() int64 {
	if q == nil {
		return 0
	}
	return q.lost.Load()
}

// OnEnd takes an ended span.
func (q *Queue) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return
	}
	if q.admit(size(span)) {
		q.SpanProcessor.OnEnd(span)
		return
	}
	q.lost.Add(1)
	q.warn.Do(func() {
		q.options.Logger.Warn("spans are lost: the OpenTelemetry collector takes them slower than p8 makes them; the metric p8.spans.lost counts them, P8_OTEL_SAMPLER makes fewer",
			"endpoint", q.options.Client.shown)
	})
}

func (q *Queue) admit(bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.spans >= maxWaiting || q.bytes+bytes > maxBytes {
		return false
	}
	q.spans++
	q.bytes += bytes
	return true
}

// leaving is the exporter of a queue, whose spans wait until they are sent.
type leaving struct {
	sdktrace.SpanExporter
	*Queue
}

// ExportSpans sends spans.
func (l leaving) ExportSpans(ctx context.Context, list []sdktrace.ReadOnlySpan) error {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.spans -= len(list)
		for _, span := range list {
			l.bytes -= size(span)
		}
	}()
	return l.SpanExporter.ExportSpans(ctx, list)
}

// Shutdown ends the exporter.
func (l leaving) Shutdown(ctx context.Context) error { return l.SpanExporter.Shutdown(ctx) }

// size returns the bytes of a span's texts. Texts that are in it twice count twice.
func size(span sdktrace.ReadOnlySpan) int {
	n := len(span.Name()) + len(span.Status().Description)
	for _, a := range span.Attributes() {
		switch n += len(a.Key); a.Value.Type() {
		case attribute.STRING:
			n += len(a.Value.AsString())
		case attribute.STRINGSLICE:
			for _, text := range a.Value.AsStringSlice() {
				n += len(text)
			}
		}
	}
	return n
}
