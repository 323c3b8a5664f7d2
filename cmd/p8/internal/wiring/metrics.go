package wiring

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/metrics"
	"github.com/p8-org/p8/cmd/p8/internal/otlp"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/jobs"
)

// measure makes the metrics of a server: a page, what is sent to the collector, or both.
func (o *observer) measure(cfg *config.Config, is *resource.Resource, page bool, log *slog.Logger) (metric.MeterProvider, error) {
	var exporter sdk.Exporter
	if cfg.SendsMetrics() {
		exporter = otlp.NewMetrics(o.client, log)
	}
	var err error
	o.metrics, err = metrics.New(metrics.Options{Resource: is, Page: page, Exporter: exporter, Every: time.Duration(cfg.OTelInterval), Logger: log})
	if err != nil {
		return nil, err
	}
	o.closers = append(o.closers, func(ctx context.Context) error {
		err := o.metrics.Shutdown(ctx)
		o.sources.Close()
		return err
	})
	return o.metrics.Provider(), nil
}

// waited takes the time that events of runs waited to be stored; nil without metrics.
func (o *observer) waited() func(time.Duration) {
	if o.meter == nil {
		return nil
	}
	return o.meter.Stored
}

// Metrics serves the page of metrics; nil if there is none.
func (p *Parts) Metrics() http.Handler {
	if p.observer.metrics == nil {
		return nil
	}
	return p.observer.metrics.Handler()
}

// Observe registers what the metrics read of the parts. connections returns how many connections
// are open.
func (p *Parts) Observe(cfg *config.Config, callers *auth.Authenticator, connections func() int) (err error) {
	if p.observer.metrics == nil {
		return nil
	}
	s := metrics.Sources{
		Version: command.Version(), Database: "none", Logger: p.Log,
		Connections: connections, MaxConnections: p.Connections,
		Runs: p.Chat.Stats, Agents: p.Catalog.Stats,
	}
	if p.keeper != nil {
		s.Quotas = p.keeper.Use
	}
	if cfg.AuthKeys {
		s.Keys = callers.KeyUse
	}
	if p.Store != nil {
		s.Database, s.Store, s.Backlog = "sqlite", p.Store.Stats, p.Store.Maintenance().Backlog
		if cfg.Database().Postgres != "" {
			s.Database = "postgresql"
		}
	}
	if p.Work != nil {
		s.Jobs = func(ctx context.Context) ([]jobs.KindStats, error) { return p.Work.Stats(ctx, "") }
	}
	p.observer.sources, err = metrics.Observe(p.observer.Meter(), s)
	return err
}
