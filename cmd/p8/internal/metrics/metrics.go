// Package metrics makes what p8 measures readable: [Metrics.Handler] is a page for Prometheus, and
// a [sdk.Exporter] gets all but Go's own numbers at intervals.
//
// Operations are measured by package telemetry, with the instruments of [Metrics.Provider].
// [Observe] adds what belongs to no operation: queues, pools, caches, quotas. Those numbers are read when
// somebody reads the metrics; those that need the database are read at most every few seconds, for
// all readers together. No attribute has a user, a tenant or a session, and each has a bounded number of values.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/otlptranslator"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// Options configure New.
type Options struct {
	// Resource describes the process.
	Resource *resource.Resource
	// Page makes the page for Prometheus.
	Page bool
	// Exporter gets the metrics every Every; nil for none.
	Exporter sdk.Exporter
	Every    time.Duration
	Logger   *slog.Logger
}

// Metrics collects the metrics of the process.
type Metrics struct {
	provider *sdk.MeterProvider
	page     http.Handler
}

// maxSeries bounds the series of one metric, should the bounds of its attributes multiply.
const maxSeries = 1000

// fresh is how long scrapes share what was gathered.
const fresh = time.Second

// New makes the metrics.
func New(o Options) (*Metrics, error) {
	options := []sdk.Option{sdk.WithCardinalityLimit(maxSeries)}
	if o.Resource != nil {
		options = append(options, sdk.WithResource(o.Resource))
	}
	m := &Metrics{}
	if o.Page {
		all := prometheus.NewRegistry()
		reader, err := exporter.New(exporter.WithRegisterer(all), exporter.WithoutScopeInfo(), exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
		if err = errors.Join(err, all.Register(collectors.NewGoCollector()), all.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))); err != nil {
			return nil, err
		}
		options = append(options, sdk.WithReader(reader))
		m.page = promhttp.HandlerFor(&shared{of: all}, promhttp.HandlerOpts{
			ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true,
		})
	}
	if o.Exporter != nil {
		options = append(options, sdk.WithReader(sdk.NewPeriodicReader(o.Exporter, sdk.WithInterval(o.Every))))
	}
	m.provider = sdk.NewMeterProvider(options...)
	return m, nil
}

// Provider makes instruments.
func (m *Metrics) Provider() metric.MeterProvider { return m.provider }

// Handler serves the page for Prometheus; nil without one.
func (m *Metrics) Handler() http.Handler { return m.page }

// Shutdown sends what is left to the exporter. The page is empty of p8's metrics from then on.
func (m *Metrics) Shutdown(ctx context.Context) error { return m.provider.Shutdown(ctx) }

// shared gathers for all scrapes of a second once.
type shared struct {
	of prometheus.Gatherer

	mu     sync.Mutex
	newest *gathered
}

// gathered is what one call of Gather returned, once done is closed. Nobody changes the families.
type gathered struct {
	done chan struct{}
	at   time.Time
	all  []*dto.MetricFamily
	err  error
}

// usable reports whether another scrape may use it; the caller holds shared.mu.
func (g *gathered) usable() bool {
	if g == nil {
		return false
	}
	select {
	case <-g.done:
		return time.Since(g.at) < fresh
	default:
		return true
	}
}

// Gather implements prometheus.Gatherer.
func (s *shared) Gather() ([]*dto.MetricFamily, error) {
	s.mu.Lock()
	g := s.newest
	if g.usable() {
		s.mu.Unlock()
		<-g.done
		return g.all, g.err
	}
	g = &gathered{done: make(chan struct{})}
	s.newest = g
	s.mu.Unlock()
	g.all, g.err = s.of.Gather()
	g.at = time.Now()
	close(g.done)
	return g.all, g.err
}
