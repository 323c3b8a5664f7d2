package otlp_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/p8-org/p8/cmd/p8/internal/otlp"
)

// TestQueue: behind a collector that hangs, spans wait up to a number and up to a size; the others
// are counted, and reported once. What has been sent makes room.
func TestQueue(t *testing.T) {
	for name, c := range map[string]struct{ text, spans, lost int }{
		"many": {1, 3000, 3000 - 2048},
		"huge": {1 << 20, 100, 100 - 63}, // keys and names count, too
	} {
		t.Run(name, func(t *testing.T) {
			hang := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
			defer server.Close()
			client, err := otlp.New(otlp.Options{Endpoint: server.URL, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			log := new(bytes.Buffer)
			q := otlp.NewQueue(otlp.SpanOptions{
				Client: client, MaxText: 40, MaxCount: 5, Logger: slog.New(slog.NewTextHandler(log, nil)), Clean: func(s string) string { return s },
			})
			provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(q))
			record := func() {
				_, span := provider.Tracer("test").Start(t.Context(), "x")
				span.SetAttributes(attribute.String("text", strings.Repeat("x", c.text)))
				span.End()
			}
			for range c.spans {
				record()
			}
			if got := q.Lost(); got != int64(c.lost) {
				t.Errorf("%d spans are lost, want %d", got, c.lost)
			}
			if n := strings.Count(log.String(), "spans are lost"); n != 1 {
				t.Errorf("%d warnings: %s", n, log)
			}
			close(hang)
			if err := provider.ForceFlush(t.Context()); err != nil {
				t.Fatal(err)
			}
			record()
			if got := q.Lost(); got != int64(c.lost) {
				t.Errorf("a span is lost though there is room: %d", got)
			}
			if err := provider.Shutdown(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
