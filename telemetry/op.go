package telemetry

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Op is one operation. Its methods may be called by one goroutine at a time, until End; a
// nil Op does nothing.
type Op struct {
	t       *Telemetry
	kind    Kind
	span    trace.Span
	since   time.Time
	attrs   []attribute.KeyValue
	usage   Usage
	chunks  []time.Duration // of which the first is the time to the first chunk
	chunk   time.Time
	failure string
}

// Usage is what a model consumed. Cached are of Input, Reasoning of Output.
type Usage struct {
	Input, Output, Cached, Reasoning int
	// USD is the price, 0 if it is not known.
	USD float64
}

// Start begins an operation, as a child of the context's operation. target is the rest of the
// span's name. The *Op is nil if the context has no Telemetry.
func Start(ctx context.Context, k Kind, target string) (context.Context, *Op) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	d := &t.descriptions[k]
	o := &Op{t: t, kind: k, since: t.now()}
	ctx, o.span = t.tracer.Start(ctx, d.name(target), trace.WithSpanKind(d.span), trace.WithTimestamp(o.since))
	return ctx, o
}

// Measure is Start without a span: the operation is in the metrics alone.
func Measure(ctx context.Context, k Kind) *Op {
	t := From(ctx)
	if t == nil {
		return nil
	}
	return &Op{t: t, kind: k, since: t.now(), span: noop.Span{}}
}

// Trace gives an operation of Measure its span, which begins when the operation did, as Start does.
func (o *Op) Trace(ctx context.Context, target string) context.Context {
	if o == nil {
		return ctx
	}
	d := &o.t.descriptions[o.kind]
	ctx, o.span = o.t.tracer.Start(ctx, d.name(target), trace.WithSpanKind(d.span), trace.WithTimestamp(o.since))
	if o.span.SpanContext().IsRemote() {
		// Without traces, the tracer hands the caller's span on. Rows must not have its ids.
		return trace.ContextWithSpan(ctx, noop.Span{})
	}
	return ctx
}

// Rename changes the target in the span's name.
func (o *Op) Rename(target string) {
	if o != nil {
		o.span.SetName(o.t.descriptions[o.kind].name(target))
	}
}

// Link says that the operation is about a span, which may be of another trace. Ids that are none
// set no link.
func (o *Op) Link(traceID, spanID string) {
	if o == nil {
		return
	}
	inTrace, err := trace.TraceIDFromHex(traceID)
	span, wrong := trace.SpanIDFromHex(spanID)
	if err == nil && wrong == nil {
		o.span.AddLink(trace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceID: inTrace, SpanID: span, Remote: true})})
	}
}

// Recording reports whether a span is recorded: attributes that no metric has and that are
// expensive to compute need not be set otherwise.
func (o *Op) Recording() bool { return o != nil && o.span.IsRecording() }

// Content reports whether the span may have contents.
func (o *Op) Content() bool { return o != nil && o.t.content && o.span.IsRecording() }

// String sets an attribute; an empty value sets none. It is cut at 32 KB.
func (o *Op) String(key, value string) {
	if o != nil && value != "" {
		o.attrs = append(o.attrs, attribute.String(key, cut(value, maxText)))
	}
}

// Strings sets a list; an empty one sets none.
func (o *Op) Strings(key string, values ...string) {
	if o != nil && len(values) > 0 {
		kept := append([]string(nil), values...)
		for i := range kept {
			kept[i] = cut(kept[i], maxText)
		}
		o.attrs = append(o.attrs, attribute.StringSlice(key, kept))
	}
}

// Int sets a number.
func (o *Op) Int(key string, value int) {
	if o != nil {
		o.attrs = append(o.attrs, attribute.Int(key, value))
	}
}

// Float sets a number.
func (o *Op) Float(key string, value float64) {
	if o != nil {
		o.attrs = append(o.attrs, attribute.Float64(key, value))
	}
}

// Bool sets a truth value.
func (o *Op) Bool(key string, value bool) {
	if o != nil {
		o.attrs = append(o.attrs, attribute.Bool(key, value))
	}
}

// Used sets what was consumed. Chat and Embeddings also count it in the metrics; an Agent's is
// the sum of theirs.
func (o *Op) Used(u Usage) {
	if o != nil {
		o.usage = u
	}
}

// Chunk notes that a piece of a model's answer has come.
func (o *Op) Chunk() {
	if o == nil {
		return
	}
	now, before := o.t.now(), o.chunk
	if before.IsZero() {
		before = o.since
	}
	o.chunk = now
	o.chunks = append(o.chunks, now.Sub(before))
}

// Fail gives the failure that End reports a type of few values, such as an HTTP status. It
// makes the operation a failure even if End's error is nil.
func (o *Op) Fail(kind string) {
	if o != nil {
		o.failure = kind
	}
}

// End ends the operation. The type of a failure is that of Fail, else what an error in err's
// chain returns as ErrorType() string.
func (o *Op) End(err error) {
	if o == nil {
		return
	}
	end := o.t.now()
	if o.failure == "" && err != nil {
		o.failure = typeOf(err)
	}
	d := &o.t.descriptions[o.kind]
	o.measure(d, end)
	if o.span.IsRecording() {
		o.describe(d, err)
	}
	o.span.End(trace.WithTimestamp(end))
}

// The types of failures that no error names.
const (
	cancelled = "cancelled"
	timeout   = "timeout"
	other     = "_OTHER"
)

func typeOf(err error) string {
	var typed interface{ ErrorType() string }
	switch {
	case errors.As(err, &typed) && typed.ErrorType() != "":
		return typed.ErrorType()
	case errors.Is(err, context.DeadlineExceeded):
		return timeout
	case errors.Is(err, context.Canceled):
		return cancelled
	}
	return other
}

// measure records the metrics.
func (o *Op) measure(d *description, end time.Time) {
	ctx := trace.ContextWithSpan(context.Background(), o.span) // metrics may name it as an example
	splits := d.splits(o.attrs, o.t.values)
	all := splits
	if o.failure != "" {
		all = append(splits, attribute.String(errorType, o.t.values[errorType].Of(o.failure)))
	}
	o.t.durations[o.kind].Record(ctx, end.Sub(o.since).Seconds(), metric.WithAttributes(all...))
	if o.kind != Chat && o.kind != Embeddings {
		return
	}
	by := metric.WithAttributeSet(attribute.NewSet(splits...))
	for i, gap := range o.chunks {
		if i == 0 {
			o.t.firstChunk.Record(ctx, gap.Seconds(), by)
		} else {
			o.t.perChunk.Record(ctx, gap.Seconds(), by)
		}
	}
	if o.usage.Input > 0 {
		o.t.tokens.Record(ctx, int64(o.usage.Input), by, metric.WithAttributes(attribute.String(tokenType, "input")))
	}
	if o.usage.Output > 0 {
		o.t.tokens.Record(ctx, int64(o.usage.Output), by, metric.WithAttributes(attribute.String(tokenType, "output")))
	}
	if o.usage.USD > 0 {
		o.t.money.Add(ctx, o.usage.USD, by)
	}
}

// describe sets the span's attributes and status.
func (o *Op) describe(d *description, err error) {
	if d.operation != "" {
		o.String(operationName, d.operation)
	}
	o.String(errorType, o.failure)
	o.setUsage()
	if len(o.chunks) > 0 {
		o.Float(TimeToFirstChunk, o.chunks[0].Seconds())
	}
	for _, a := range o.attrs {
		if name := alias(string(a.Key)); name != "" && !(o.kind == Agent && strings.HasPrefix(name, "llm.")) { // Phoenix adds up tokens
			o.attrs = append(o.attrs, attribute.KeyValue{Key: attribute.Key(name), Value: a.Value})
		}
	}
	o.String(phoenixKind, d.phoenix)
	o.span.SetAttributes(o.attrs...)
	if o.failure != "" && o.failure != cancelled {
		text := o.failure
		if err != nil && o.t.content {
			text = cut(err.Error(), maxText) // it may quote what users and models say
		}
		o.span.SetStatus(codes.Error, text)
	}
}

func (o *Op) setUsage() {
	u := o.usage
	for _, n := range []struct {
		key   string
		value int
	}{{inputTokens, u.Input}, {outputTokens, u.Output}, {cachedTokens, u.Cached}, {reasoningTokens, u.Reasoning}} {
		if n.value > 0 {
			o.Int(n.key, n.value)
		}
	}
	if total := u.Input + u.Output; total > 0 && o.kind != Agent {
		o.Int("llm.token_count.total", total)
	}
	if u.USD > 0 {
		o.Float(cost, u.USD)
	}
}
