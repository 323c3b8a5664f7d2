// Package observed shows tests the spans and the metrics that telemetry records: a
// [Recorder] is a Telemetry for the context of what is tested, draws the ended spans as a
// tree, and lists the series of the metrics.
package observed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/p8-org/p8/telemetry"
)

// Recorder keeps what its Telemetry records.
type Recorder struct {
	*telemetry.Telemetry
	// Tracer is the provider of the spans.
	Tracer   *sdktrace.TracerProvider
	exporter *tracetest.InMemoryExporter
	reader   *metric.ManualReader
}

// New returns a recorder of everything; with the contents of conversations if o.Content.
func New(t testing.TB, o telemetry.Options) *Recorder {
	t.Helper()
	r := &Recorder{exporter: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	r.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(r.exporter))
	o.Tracer, o.Meter = r.Tracer, metric.NewMeterProvider(metric.WithReader(r.reader))
	var err error
	if r.Telemetry, err = telemetry.New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

// Context returns the test's context with the recorder.
func (r *Recorder) Context(t testing.TB) context.Context {
	return telemetry.With(t.Context(), r.Telemetry)
}

// Spans returns the spans that have ended, in the order of their ends.
func (r *Recorder) Spans() tracetest.SpanStubs { return r.exporter.GetSpans() }

// Tree draws the ended spans as trees: a line for each, children below their parent by their
// begin, with the attributes that keep allows (nil: all), by key. Transactions of the store are left
// out: how many there are depends on the time.
func (r *Recorder) Tree(keep func(key string) bool) string {
	spans := slices.DeleteFunc(r.Spans(), func(s tracetest.SpanStub) bool {
		return slices.ContainsFunc(s.Attributes, func(a attribute.KeyValue) bool { return a.Key == telemetry.DBSystem })
	})
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), strings.Compare(a.Name, b.Name))
	})
	known := map[string]bool{}
	for _, s := range spans {
		known[s.SpanContext.SpanID().String()] = true
	}
	var out strings.Builder
	var draw func(parent string, depth int)
	draw = func(parent string, depth int) {
		for _, s := range spans {
			above := s.Parent.SpanID().String()
			if !known[above] {
				above = ""
			}
			if above != parent {
				continue
			}
			fmt.Fprintf(&out, "%s%s (%s)", strings.Repeat("  ", depth), s.Name, s.SpanKind)
			if s.Status.Code == codes.Error {
				out.WriteString(" failed")
			}
			for _, a := range sorted(s.Attributes) {
				if keep == nil || keep(string(a.Key)) {
					fmt.Fprintf(&out, " %s=%s", a.Key, a.Value.String())
				}
			}
			out.WriteByte('\n')
			draw(s.SpanContext.SpanID().String(), depth+1)
		}
	}
	draw("", 0)
	return out.String()
}

// Metrics returns a line for each series: name, attributes, and the number and the sum of its
// measurements, without sums of seconds.
func (r *Recorder) Metrics(t testing.TB) string {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(m metricdata.Metrics, set attribute.Set, value string) {
		line := m.Name
		for _, a := range set.ToSlice() {
			line += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
		}
		lines = append(lines, line+": "+value)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(m, p.Attributes, fmt.Sprint(p.Count))
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					add(m, p.Attributes, fmt.Sprintf("%d, sum %d", p.Count, p.Sum))
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					add(m, p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(m, p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(m, p.Attributes, fmt.Sprint(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(m, p.Attributes, fmt.Sprint(p.Value))
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// Clock returns a clock that goes on by step with each reading.
func Clock(step time.Duration) func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func sorted(list []attribute.KeyValue) []attribute.KeyValue {
	return slices.SortedFunc(slices.Values(list), func(a, b attribute.KeyValue) int {
		return strings.Compare(string(a.Key), string(b.Key))
	})
}
