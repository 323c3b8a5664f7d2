package otlp_test

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/p8-org/p8/cmd/p8/internal/otlp"
)

func TestMetrics(t *testing.T) {
	var got colmetricspb.ExportMetricsServiceRequest
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err == nil && r.URL.Path == "/v1/metrics" {
			var raw []byte
			raw, err = io.ReadAll(body)
			if err == nil {
				err = proto.Unmarshal(raw, &got)
			}
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer collector.Close()
	client, err := otlp.New(otlp.Options{Endpoint: collector.URL})
	if err != nil {
		t.Fatal(err)
	}
	provider := sdk.NewMeterProvider(sdk.WithReader(sdk.NewPeriodicReader(otlp.NewMetrics(client, slog.New(slog.DiscardHandler)))))
	m := provider.Meter("p8")
	by := metric.WithAttributes(attribute.String("model", "gpt"), attribute.Int("status", 429), attribute.Bool("b", true), attribute.Float64("f", 0.5))
	whole, _ := m.Int64Counter("tokens", metric.WithUnit("{token}"), metric.WithDescription("Tokens."))
	whole.Add(t.Context(), 3, by)
	money, _ := m.Float64Counter("cost")
	money.Add(t.Context(), 0.25)
	open, _ := m.Int64UpDownCounter("open")
	open.Add(t.Context(), -1)
	level, _ := m.Float64Gauge("level")
	level.Record(t.Context(), 0.5)
	took, _ := m.Float64Histogram("took", metric.WithExplicitBucketBoundaries(1, 2))
	took.Record(t.Context(), 1.5)
	sizes, _ := m.Int64Histogram("sizes", metric.WithExplicitBucketBoundaries(1))
	sizes.Record(t.Context(), 5)
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := map[string]*metricspb.Metric{}
	for _, x := range got.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		all[x.Name] = x
	}
	tokens := all["tokens"].GetSum()
	point := tokens.DataPoints[0]
	attrs := map[string]string{}
	for _, a := range point.Attributes {
		attrs[a.Key] = a.Value.String()
	}
	if point.GetAsInt() != 3 || !tokens.IsMonotonic || tokens.AggregationTemporality != 2 || point.TimeUnixNano == 0 || all["tokens"].Unit != "{token}" || len(attrs) != 4 {
		t.Errorf("%v %v", all["tokens"], attrs)
	}
	hist, ints := all["took"].GetHistogram().DataPoints[0], all["sizes"].GetHistogram().DataPoints[0]
	values := []float64{
		all["cost"].GetSum().DataPoints[0].GetAsDouble(), float64(all["open"].GetSum().DataPoints[0].GetAsInt()), all["level"].GetGauge().DataPoints[0].GetAsDouble(),
		hist.GetSum(), hist.GetMin(), hist.GetMax(), float64(hist.Count), ints.GetSum(),
	}
	if d := cmp.Diff([]float64{0.25, -1, 0.5, 1.5, 1.5, 1.5, 1, 5}, values); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]uint64{0, 1, 0}, hist.BucketCounts); d != "" || all["open"].GetSum().IsMonotonic {
		t.Error(d)
	}
	client.Close()
}
