package telemetry_test

import (
	"testing"

	"go.opentelemetry.io/otel/metric/noop"

	"github.com/p8-org/p8/telemetry"
)

// TestUntraced: where there are metrics alone, no span that a caller names is taken for p8's.
func TestUntraced(t *testing.T) {
	only, err := telemetry.New(telemetry.Options{Meter: noop.NewMeterProvider()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := telemetry.With(t.Context(), only)
	op := telemetry.Measure(ctx, telemetry.HTTPServer)
	ctx = op.Trace(telemetry.Continue(ctx, func(key string) string {
		return map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}[key]
	}), "GET")
	defer op.End(nil)
	if in, span := telemetry.IDs(ctx); in != "" || span != "" {
		t.Errorf("the caller's ids %s, %s", in, span)
	}
}
