package otlp

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// NewMetrics returns the exporter of metrics. A collector that fails is reported once, until it
// works again. Values are cumulative, so the next request has what a failed one had.
func NewMetrics(c *Client, log *slog.Logger) metric.Exporter {
	return &meters{health: Health{Client: c, Logger: log}}
}

type meters struct{ health Health }

// Temporality implements metric.Exporter.
func (*meters) Temporality(k metric.InstrumentKind) metricdata.Temporality {
	return metric.DefaultTemporalitySelector(k)
}

// Aggregation implements metric.Exporter.
func (*meters) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	return metric.DefaultAggregationSelector(k)
}

// ForceFlush implements metric.Exporter.
func (*meters) ForceFlush(context.Context) error { return nil }

// Shutdown implements metric.Exporter.
func (*meters) Shutdown(context.Context) error { return nil }

// Export returns no error: the SDK would print it.
func (m *meters) Export(ctx context.Context, r *metricdata.ResourceMetrics) error {
	scopes := make([]*metricspb.ScopeMetrics, len(r.ScopeMetrics))
	for i, s := range r.ScopeMetrics {
		scopes[i] = &metricspb.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: s.Scope.Name, Version: s.Scope.Version}}
		for _, own := range s.Metrics {
			scopes[i].Metrics = append(scopes[i].Metrics, message(own))
		}
	}
	m.health.Report(m.health.Client.Send(ctx, Metrics(), &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: &resourcepb.Resource{Attributes: attributes(r.Resource.Iter())}, ScopeMetrics: scopes,
	}}}))
	return nil
}

// message converts a metric. p8 makes counters, gauges and histograms with buckets.
func message(m metricdata.Metrics) *metricspb.Metric {
	out := &metricspb.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch d := m.Data.(type) {
	case metricdata.Gauge[int64]:
		out.Data = gauge(d.DataPoints, whole)
	case metricdata.Gauge[float64]:
		out.Data = gauge(d.DataPoints, fraction)
	case metricdata.Sum[int64]:
		out.Data = sum(d.DataPoints, d.Temporality, d.IsMonotonic, whole)
	case metricdata.Sum[float64]:
		out.Data = sum(d.DataPoints, d.Temporality, d.IsMonotonic, fraction)
	case metricdata.Histogram[int64]:
		out.Data = histogram(d)
	case metricdata.Histogram[float64]:
		out.Data = histogram(d)
	}
	return out
}

func whole(p *metricspb.NumberDataPoint, n int64) {
	p.Value = &metricspb.NumberDataPoint_AsInt{AsInt: n}
}
func fraction(p *metricspb.NumberDataPoint, n float64) {
	p.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: n}
}

func gauge[N int64 | float64](list []metricdata.DataPoint[N], set func(*metricspb.NumberDataPoint, N)) *metricspb.Metric_Gauge {
	return &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: points(list, set)}}
}

func sum[N int64 | float64](list []metricdata.DataPoint[N], t metricdata.Temporality, monotonic bool, set func(*metricspb.NumberDataPoint, N)) *metricspb.Metric_Sum {
	return &metricspb.Metric_Sum{Sum: &metricspb.Sum{DataPoints: points(list, set), AggregationTemporality: temporality(t), IsMonotonic: monotonic}}
}

func points[N int64 | float64](list []metricdata.DataPoint[N], set func(*metricspb.NumberDataPoint, N)) []*metricspb.NumberDataPoint {
	out := make([]*metricspb.NumberDataPoint, len(list))
	for i, p := range list {
		out[i] = &metricspb.NumberDataPoint{Attributes: attributes(p.Attributes.Iter()), StartTimeUnixNano: nano(p.StartTime), TimeUnixNano: nano(p.Time)}
		set(out[i], p.Value)
	}
	return out
}

func histogram[N int64 | float64](h metricdata.Histogram[N]) *metricspb.Metric_Histogram {
	out := make([]*metricspb.HistogramDataPoint, len(h.DataPoints))
	for i, p := range h.DataPoints {
		total := float64(p.Sum)
		out[i] = &metricspb.HistogramDataPoint{
			Attributes: attributes(p.Attributes.Iter()), StartTimeUnixNano: nano(p.StartTime), TimeUnixNano: nano(p.Time),
			Count: p.Count, Sum: &total, BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
		}
		if lowest, ok := p.Min.Value(); ok {
			n := float64(lowest)
			out[i].Min = &n
		}
		if highest, ok := p.Max.Value(); ok {
			n := float64(highest)
			out[i].Max = &n
		}
	}
	return &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{DataPoints: out, AggregationTemporality: temporality(h.Temporality)}}
}

func temporality(t metricdata.Temporality) metricspb.AggregationTemporality {
	if t == metricdata.DeltaTemporality {
		return metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	return metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
}

func nano(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.UnixNano()))
}

// attributes converts attributes; all that p8 sets are texts, numbers or truth values.
func attributes(all attribute.Iterator) (out []*commonpb.KeyValue) {
	for all.Next() {
		a := all.Attribute()
		v := &commonpb.AnyValue{}
		switch a.Value.Type() {
		case attribute.INT64:
			v.Value = &commonpb.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		case attribute.FLOAT64:
			v.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: a.Value.AsFloat64()}
		case attribute.BOOL:
			v.Value = &commonpb.AnyValue_BoolValue{BoolValue: a.Value.AsBool()}
		default:
			v.Value = &commonpb.AnyValue_StringValue{StringValue: cut(a.Value.String(), maxName)}
		}
		out = append(out, &commonpb.KeyValue{Key: string(a.Key), Value: v})
	}
	return out
}
