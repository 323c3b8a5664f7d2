package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/metrics"
	"github.com/p8-org/p8/cmd/p8/internal/otlp"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/telemetry"
)

// flushWithin bounds how long the end of the process waits for the collector.
const flushWithin = 3 * time.Second

// The limits of a span: bytes of a text, attributes, events. Texts are cut after secrets are
// found in them; the SDK, which cuts before, gets none as long as its limit from package telemetry.
const (
	spanText  = 16 << 10
	spanHeld  = 256 << 10
	spanCount = 512
)

// observer has the SDK behind a Telemetry.
type observer struct {
	*telemetry.Telemetry
	// client is nil if nothing is sent to a collector.
	client *otlp.Client
	// queue has the spans that wait for it.
	queue *otlp.Queue
	// metrics is nil if there are none; meter counts for them, sources are read for them.
	metrics *metrics.Metrics
	meter   *metrics.Meter
	sources *metrics.Observer
	// closers flush and stop the providers.
	closers []func(context.Context) error
}

// newObserver returns the observer of the settings; its Telemetry is nil if they ask for none.
// Only servers have metrics.
func newObserver(cfg *config.Config, serves bool, log *slog.Logger) (*observer, error) {
	o := &observer{}
	sends, pages := cfg.SendsTelemetry(), serves && cfg.ServesMetrics()
	if !sends && !pages {
		return o, nil
	}
	// The SDK reports to a variable of its package.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Debug("OpenTelemetry", "error", err) }))
	is := newResource(cfg)
	out := telemetry.Options{Content: cfg.RecordsContent(), Version: command.Version()}
	if sends {
		if err := o.connect(cfg); err != nil {
			return nil, command.Fail(command.ExitUsage, err)
		}
		out.Tracer = o.spans(cfg, is, log)
	}
	var err error
	if pages || serves && cfg.SendsMetrics() {
		if out.Meter, err = o.measure(cfg, is, pages, log); err != nil {
			return nil, err
		}
	}
	if o.Telemetry, err = telemetry.New(out); err == nil && o.metrics != nil {
		o.meter, err = metrics.NewMeter(o.Telemetry.Meter())
		if err == nil {
			err = metrics.Lost(o.Telemetry.Meter(), o.queue.Lost)
		}
	}
	return o, err
}

// spans makes the provider of spans.
func (o *observer) spans(cfg *config.Config, is *resource.Resource, log *slog.Logger) *sdktrace.TracerProvider {
	o.queue = otlp.NewQueue(otlp.SpanOptions{
		Client: o.client, Clean: cfg.SpanRedactor().Text, MaxText: spanText, MaxCount: spanCount, Logger: log,
	})
	spans := sdktrace.NewTracerProvider(
		sdktrace.WithResource(is),
		sdktrace.WithSampler(sampler(cfg)),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: spanHeld, AttributeCountLimit: spanCount, EventCountLimit: spanCount, LinkCountLimit: spanCount,
			AttributePerEventCountLimit: spanCount, AttributePerLinkCountLimit: spanCount,
		}),
		sdktrace.WithSpanProcessor(o.queue),
	)
	o.closers = append(o.closers, spans.Shutdown)
	return spans
}

// connect makes the client of the collector.
func (o *observer) connect(cfg *config.Config) error {
	headers, _ := config.Pairs(cfg.OTelHeaders)
	var authorities []byte
	if cfg.OTelCA != "" {
		var err error
		if authorities, err = os.ReadFile(cfg.OTelCA); err != nil {
			return fmt.Errorf("P8_OTEL_CERTIFICATE: %s cannot be read: check its permissions", cfg.OTelCA)
		}
	}
	var err error
	o.client, err = otlp.New(otlp.Options{
		Endpoint: cfg.OTLPEndpoint(), GRPC: cfg.UsesGRPC(), Headers: headers, Timeout: time.Duration(cfg.OTelTimeout),
		Authorities: authorities, Version: command.Version(),
	})
	if err != nil {
		return fmt.Errorf("P8_OTEL_CERTIFICATE or P8_OTEL_COLLECTOR_ENDPOINT: %w", err)
	}
	return nil
}

// close sends what is left and stops.
func (o *observer) close() {
	if o == nil || len(o.closers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
	defer cancel()
	if o.client != nil {
		o.client.Stop()
		defer o.client.Close()
	}
	errs := make([]error, len(o.closers))
	var all sync.WaitGroup
	for i, c := range o.closers { // beside one another: none takes the time of the others
		all.Go(func() { errs[i] = c(ctx) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		otel.Handle(err)
	}
	o.closers = nil
}

// newResource describes this process.
func newResource(cfg *config.Config) *resource.Resource {
	const unset = "p8-api"
	attrs := []attribute.KeyValue{
		attribute.String("service.name", unset),
		attribute.String("service.version", command.Version()),
		attribute.String("service.instance.id", uuid.NewString()),
		attribute.String("telemetry.sdk.name", "opentelemetry"),
		attribute.String("telemetry.sdk.language", "go"),
		attribute.String("telemetry.sdk.version", otel.Version()),
	}
	if cfg.OTelEnvironment != "" {
		attrs = append(attrs, attribute.String("deployment.environment.name", cfg.OTelEnvironment),
			attribute.String("deployment.environment", cfg.OTelEnvironment)) // REM's collectors know this one
	}
	more, _ := config.Pairs(cfg.OTelResource)
	for _, pair := range more {
		attrs = append(attrs, attribute.String(pair[0], pair[1]))
	}
	if cfg.OTelService != unset { // the last one counts
		attrs = append(attrs, attribute.String("service.name", cfg.OTelService))
	}
	return resource.NewSchemaless(attrs...)
}

func sampler(cfg *config.Config) sdktrace.Sampler {
	var s sdktrace.Sampler
	name, parent := strings.CutPrefix(cfg.OTelSampler, "parentbased_")
	switch name {
	case "always_off":
		s = sdktrace.NeverSample()
	case "traceidratio":
		s = sdktrace.TraceIDRatioBased(cfg.OTelSamplerArg)
	default:
		s = sdktrace.AlwaysSample()
	}
	if parent {
		return sdktrace.ParentBased(s)
	}
	return s
}
