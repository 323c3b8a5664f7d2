package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	grpccodes "google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/p8-org/p8/cmd/p8/internal/otlp"
)

// receiver is a collector.
type receiver struct {
	coltracepb.UnimplementedTraceServiceServer
	mu       sync.Mutex
	spans    []*tracepb.Span
	keys     []string
	refuse   []grpccodes.Code // the next requests
	rejected int64
}

func (r *receiver) take(key string, req *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, key)
	if len(r.refuse) > 0 {
		code := r.refuse[0]
		r.refuse = r.refuse[1:]
		return nil, status.Error(code, "not now: 100% busy")
	}
	for _, rs := range req.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			r.spans = append(r.spans, ss.Spans...)
		}
	}
	res := &coltracepb.ExportTraceServiceResponse{}
	if r.rejected > 0 {
		res.PartialSuccess = &coltracepb.ExportTracePartialSuccess{RejectedSpans: r.rejected, ErrorMessage: "too old"}
	}
	return res, nil
}

// Export implements OTLP/gRPC.
func (r *receiver) Export(ctx context.Context, req *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	return r.take(strings.Join(md.Get("x-key"), ","), req)
}

// ServeHTTP implements OTLP/HTTP.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	unzipped, err := gzip.NewReader(req.Body)
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(unzipped)
	message := &coltracepb.ExportTraceServiceRequest{}
	if err != nil || proto.Unmarshal(body, message) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	res, err := r.take(req.Header.Get("X-Key"), message)
	switch status.Code(err) {
	case grpccodes.OK:
		out, _ := proto.Marshal(res)
		_, _ = w.Write(out)
	case grpccodes.Unavailable:
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}

// start serves the receiver, and returns its address.
func (r *receiver) start(t *testing.T, useGRPC bool) string {
	if !useGRPC {
		s := httptest.NewServer(r)
		t.Cleanup(s.Close)
		return s.URL
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	coltracepb.RegisterTraceServiceServer(s, r)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	return "http://" + listener.Addr().String()
}

// both runs a test with each protocol.
func both(t *testing.T, test func(t *testing.T, useGRPC bool)) {
	t.Run("http", func(t *testing.T) { test(t, false) })
	t.Run("grpc", func(t *testing.T) { test(t, true) })
}

// exporter sends to endpoint; the log goes to the buffer.
func exporter(t *testing.T, endpoint string, useGRPC bool, timeout time.Duration) (*otlp.Client, *sdktrace.TracerProvider, *bytes.Buffer) {
	t.Helper()
	client, err := otlp.New(otlp.Options{Endpoint: endpoint, GRPC: useGRPC, Headers: [][2]string{{"x-key", "secret-key"}}, Timeout: timeout, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	log := new(bytes.Buffer)
	return client, sdktrace.NewTracerProvider(sdktrace.WithSyncer(otlp.NewSpans(otlp.SpanOptions{
		Client: client, MaxText: 40, MaxCount: 5, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Clean: func(s string) string { return strings.ReplaceAll(s, "hunter2-hunter2", "[secret]") },
	}))), log
}

func TestSpans(t *testing.T) {
	both(t, func(t *testing.T, useGRPC bool) {
		r := &receiver{refuse: []grpccodes.Code{grpccodes.Unavailable}}
		_, provider, log := exporter(t, r.start(t, useGRPC), useGRPC, time.Minute)
		_, span := provider.Tracer("test").Start(t.Context(), "chat hunter2-hunter2")
		span.SetAttributes(
			attribute.String("long", strings.Repeat("ä", 50)),
			attribute.String("secret", strings.Repeat("x", 30)+"hunter2-hunter2"), // cut in the middle of the secret
			attribute.String("bytes", "\xff\xfe"),
			attribute.StringSlice("list", []string{"hunter2-hunter2", "b"}),
			attribute.KeyValue{Key: "null"},
			attribute.Int("too many", 1),
		)
		span.SetStatus(codes.Error, "no hunter2-hunter2")
		span.End()
		if err := provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(r.spans) != 1 || len(r.keys) != 2 || r.keys[1] != "secret-key" {
			t.Fatalf("got %d spans in requests with the keys %q; log: %s", len(r.spans), r.keys, log)
		}
		got := r.spans[0]
		values := map[string]string{}
		for _, a := range got.Attributes {
			values[a.Key] = a.Value.GetStringValue()
			if list := a.Value.GetArrayValue(); list != nil {
				values[a.Key] = list.Values[0].GetStringValue()
			}
		}
		for key, want := range map[string]string{
			"long": strings.Repeat("ä", 18) + "…", "secret": strings.Repeat("x", 30) + "[secret]", "bytes": "\uFFFD", "list": "[secret]",
		} {
			if values[key] != want {
				t.Errorf("%s is %q, want %q", key, values[key], want)
			}
		}
		if got.Name != "chat [secret]" || got.Status.Message != "no [secret]" || len(got.Attributes) > 5 {
			t.Errorf("got %v", got)
		}
		if log.Len() > 0 {
			t.Errorf("a repeated request is logged: %s", log)
		}
	})
}

func TestRefusals(t *testing.T) {
	both(t, func(t *testing.T, useGRPC bool) {
		r := &receiver{refuse: []grpccodes.Code{grpccodes.InvalidArgument, grpccodes.InvalidArgument}}
		_, provider, log := exporter(t, r.start(t, useGRPC), useGRPC, time.Minute)
		for range 3 {
			_, span := provider.Tracer("test").Start(t.Context(), "x")
			span.End()
		}
		if got := log.String(); strings.Count(got, "does not take") != 1 || strings.Count(got, "works again") != 1 || strings.Contains(got, "secret-key") {
			t.Errorf("two refusals and a success are logged as: %s", got)
		}
		log.Reset()
		r.rejected = 1
		_, span := provider.Tracer("test").Start(t.Context(), "x")
		span.End()
		if got := log.String(); !strings.Contains(got, "has refused 1") || !strings.Contains(got, "too old") {
			t.Errorf("a partial refusal is logged as: %s", got)
		}
	})
}

// TestUnreachable: a collector that is not there is reported once, without its password, and
// nothing waits longer than the timeout.
func TestUnreachable(t *testing.T) {
	both(t, func(t *testing.T, useGRPC bool) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		_ = listener.Close()
		client, provider, log := exporter(t, "http://user:hunter2@"+address, useGRPC, time.Minute)
		client.Stop() // no retries
		for range 3 {
			_, span := provider.Tracer("test").Start(t.Context(), "x")
			span.End()
		}
		if got := log.String(); strings.Count(got, "\n") != 1 || strings.Contains(got, "hunter2") || !strings.Contains(got, address) {
			t.Errorf("the log is: %s", got)
		}
	})
}

// TestHanging: a collector that never answers takes no longer than the timeout.
func TestHanging(t *testing.T) {
	both(t, func(t *testing.T, useGRPC bool) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		_, provider, log := exporter(t, "http://"+listener.Addr().String(), useGRPC, 20*time.Millisecond)
		_, span := provider.Tracer("test").Start(t.Context(), "x")
		span.End()
		if !strings.Contains(log.String(), "does not take") {
			t.Errorf("the log is: %s", log)
		}
	})
}
