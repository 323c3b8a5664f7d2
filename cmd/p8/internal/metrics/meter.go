package metrics

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Meter makes what counts refused requests and open streams (api.Meter), and takes the time that
// events of runs waited to be stored.
type Meter struct {
	refused metric.Int64Counter
	streams metric.Int64UpDownCounter
	stored  metric.Float64Histogram
}

// NewMeter makes a Meter.
func NewMeter(m metric.Meter) (*Meter, error) {
	var own Meter
	var errs [3]error
	own.refused, errs[0] = m.Int64Counter("p8.refusals", metric.WithUnit("{request}"), metric.WithDescription("Requests refused with 401, 403, 429 or 503, by the reason that the client got."))
	own.streams, errs[1] = m.Int64UpDownCounter("p8.streams.open", metric.WithUnit("{stream}"), metric.WithDescription("Open streams of clients, by protocol."))
	own.stored, errs[2] = m.Float64Histogram("p8.run.log.delay", metric.WithUnit("s"), metric.WithDescription("How long events of a run waited to be stored."),
		metric.WithExplicitBucketBoundaries(.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30))
	return &own, errors.Join(errs[:]...)
}

// Lost makes the metric of the spans that found no room in a queue.
func Lost(m metric.Meter, lost func() int64) error {
	_, err := m.Int64ObservableCounter("p8.spans.lost", metric.WithUnit("{span}"), metric.WithDescription("Spans that were not sent, because too many waited for the collector."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(lost())
			return nil
		}))
	return err
}

// Refused implements api.Meter.
func (m *Meter) Refused(status int, reason string) {
	m.refused.Add(context.Background(), 1, metric.WithAttributeSet(attribute.NewSet(attribute.Int("status", status), attribute.String("reason", reason))))
}

// Streams implements api.Meter.
func (m *Meter) Streams(protocol string, n int) {
	m.streams.Add(context.Background(), int64(n), by("protocol", protocol))
}

// Stored takes the time that events waited.
func (m *Meter) Stored(waited time.Duration) {
	m.stored.Record(context.Background(), waited.Seconds())
}
