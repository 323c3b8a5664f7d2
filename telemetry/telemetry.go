// Package telemetry records what p8 does as OpenTelemetry spans and metrics.
//
// An operation ([Op]) is one span and one duration, and for models also tokens, money and
// the pace of the answer. [Start] begins an operation and [Op.End] ends it, whether or not
// its trace is sampled:
//
//	ctx, op := telemetry.Start(ctx, telemetry.Chat, "gpt-4.1")
//	op.String(telemetry.Provider, "openai")
//	defer func() { op.End(err) }()
//
// Operations that start with the returned context are its children. The kind ([Kind]) says
// the span's name, its place in the OpenInference vocabulary of Phoenix, the histogram of its
// duration, and the attributes that the histogram is split by; those have few values.
// Attributes are set by their OpenTelemetry key; the operation adds the key that Phoenix knows.
//
// There are no globals: the providers travel in the context ([With]). Without them Start
// returns a nil *Op, whose methods do nothing and allocate nothing. Contents (what users and
// models say) are recorded only if [Op.Content] reports true.
//
// This package needs OpenTelemetry's API alone. The program chooses the SDK: p8's binary links
// it, with its exporters and readers, in cmd/p8/internal/wiring. [Telemetry.Meter] is for gauges
// and counters that belong to no operation.
package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// scope is the name of the instrumentation.
const scope = "github.com/p8-org/p8"

// Options configure New.
type Options struct {
	// Tracer makes spans; nil for none.
	Tracer trace.TracerProvider
	// Meter makes instruments; nil for none.
	Meter metric.MeterProvider
	// Content says that spans may have what users, models and tools say.
	Content bool
	// Version is that of the program.
	Version string
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Telemetry records operations. It is safe for concurrent use; nil records nothing.
type Telemetry struct {
	tracer  trace.Tracer
	meter   metric.Meter
	content bool
	now     func() time.Time
	instruments
}

// New makes a Telemetry; nil if there is neither a tracer nor a meter.
func New(o Options) (*Telemetry, error) {
	if o.Tracer == nil && o.Meter == nil {
		return nil, nil
	}
	if o.Tracer == nil {
		o.Tracer = tracenoop.NewTracerProvider()
	}
	if o.Meter == nil {
		o.Meter = metricnoop.NewMeterProvider()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Telemetry{
		tracer:  o.Tracer.Tracer(scope, trace.WithInstrumentationVersion(o.Version)),
		meter:   o.Meter.Meter(scope, metric.WithInstrumentationVersion(o.Version)),
		content: o.Content,
		now:     o.Now,
	}
	var err error
	t.instruments, err = newInstruments(t.meter)
	return t, err
}

// Meter makes instruments for what is no operation; nil if t is nil.
func (t *Telemetry) Meter() metric.Meter {
	if t == nil {
		return nil
	}
	return t.meter
}

type contextKey struct{}

// With returns a context whose operations t records. A nil t changes nothing.
func With(ctx context.Context, t *Telemetry) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, t)
}

// From returns the Telemetry of a context, nil if it has none.
func From(ctx context.Context) *Telemetry {
	t, _ := ctx.Value(contextKey{}).(*Telemetry)
	return t
}
