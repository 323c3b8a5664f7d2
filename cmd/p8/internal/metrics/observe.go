package metrics

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/store"
)

// Sources are what is read when somebody reads the metrics. Those that are nil have no metrics.
type Sources struct {
	// Version is that of the program, Database the engine of the store.
	Version, Database string
	// Connections returns how many connections are open; MaxConnections may be.
	Connections    func() int
	MaxConnections int
	Runs           func() chat.Stats
	Agents         func() catalog.Stats
	Store          func() store.Stats
	Quotas         func() quota.Use
	// Keys returns the hits and misses of the API keys in memory.
	Keys func() (hits, misses uint64)
	// Jobs and Backlog read the database.
	Jobs    func(context.Context) ([]jobs.KindStats, error)
	Backlog func(context.Context) (store.Backlog, error)
	Logger  *slog.Logger
}

// Observer reads the sources.
type Observer struct {
	Sources
	jobs    cached[[]jobs.KindStats]
	backlog cached[store.Backlog]
	// failed counts the reads of each that failed.
	failed [2]atomic.Int64
}

// Observe registers the metrics of the sources. Close ends its reading, after that of the meter.
func Observe(m metric.Meter, s Sources) (*Observer, error) {
	o := &Observer{Sources: s}
	o.jobs = cached[[]jobs.KindStats]{read: s.Jobs, failed: func(err error) { o.fail(0, "jobs", err) }}
	o.backlog = cached[store.Backlog]{read: s.Backlog, failed: func(err error) { o.fail(1, "backlog", err) }}
	r := &registration{meter: m}
	if s.Version != "" {
		o.build(r)
	}
	if s.Connections != nil {
		o.connections(r)
	}
	if s.Runs != nil {
		o.runs(r)
	}
	if s.Store != nil {
		o.store(r)
	}
	o.caches(r)
	if s.Quotas != nil {
		o.quotas(r)
	}
	if s.Jobs != nil {
		o.queue(r)
	}
	if s.Backlog != nil {
		o.waiting(r)
	}
	return o, r.register()
}

// Close waits for reads of the database that are under way.
func (o *Observer) Close() {
	if o != nil {
		o.jobs.wait()
		o.backlog.wait()
	}
}

// registration collects instruments, and what observes them.
type registration struct {
	meter     metric.Meter
	all       []metric.Observable
	observers []func(metric.Observer)
	errs      []error
}

// gauge makes a gauge of whole numbers.
func (r *registration) gauge(name, unit, about string) metric.Int64ObservableGauge {
	g, err := r.meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about))
	r.add(g, err)
	return g
}

// part makes a gauge of other numbers.
func (r *registration) part(name, unit, about string) metric.Float64ObservableGauge {
	g, err := r.meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about))
	r.add(g, err)
	return g
}

// counter makes a counter.
func (r *registration) counter(name, unit, about string) metric.Int64ObservableCounter {
	c, err := r.meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(about))
	r.add(c, err)
	return c
}

func (r *registration) add(i metric.Observable, err error) {
	r.all, r.errs = append(r.all, i), append(r.errs, err)
}

// observe adds a function that observes the instruments made for it.
func (r *registration) observe(f func(metric.Observer)) { r.observers = append(r.observers, f) }

func (r *registration) register() error {
	if err := errors.Join(r.errs...); err != nil {
		return err
	}
	_, err := r.meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		for _, f := range r.observers {
			f(to)
		}
		return nil
	}, r.all...)
	return err
}

// by makes attributes of keys and values in turn.
func by(pairs ...string) metric.MeasurementOption {
	set := make([]attribute.KeyValue, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		set = append(set, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributeSet(attribute.NewSet(set...))
}

func (o *Observer) build(r *registration) {
	info := r.gauge("p8.build.info", "", "Always 1; the labels have the version of p8 and of Go, and the database.")
	is := by("version", o.Version, "goversion", runtime.Version(), "database", o.Database)
	r.observe(func(to metric.Observer) { to.ObserveInt64(info, 1, is) })
}

func (o *Observer) connections(r *registration) {
	open := r.gauge("p8.connections.open", "{connection}", "Open connections of clients.")
	most := r.gauge("p8.connections.limit", "{connection}", "Connections that may be open (P8_MAX_CONNECTIONS).")
	r.observe(func(to metric.Observer) {
		to.ObserveInt64(open, int64(o.Connections()))
		to.ObserveInt64(most, int64(o.MaxConnections))
	})
}

func (o *Observer) runs(r *registration) {
	active := r.gauge("p8.runs.active", "{run}", "Runs that this process executes.")
	most := r.gauge("p8.runs.limit", "{run}", "Runs that this process executes at most (P8_MAX_RUNS).")
	waiting := r.gauge("p8.runs.waiting", "{request}", "Requests that wait for another run of their session to end.")
	unstored := r.gauge("p8.run.log.unstored", "{event}", "Events of runs that clients have and the database has not yet.")
	held := r.gauge("p8.run.memory", "By", "Memory that the events of all runs take.")
	may := r.gauge("p8.run.memory.limit", "By", "Memory that the events of all runs may take (P8_RUN_MEMORY).")
	r.observe(func(to metric.Observer) {
		s := o.Runs()
		to.ObserveInt64(active, int64(s.Runs))
		to.ObserveInt64(most, int64(s.MaxRuns))
		to.ObserveInt64(waiting, int64(s.Waiting))
		to.ObserveInt64(unstored, int64(s.Unstored))
		to.ObserveInt64(held, s.Memory)
		to.ObserveInt64(may, s.MaxMemory)
	})
}

func (o *Observer) store(r *registration) {
	used := r.gauge("p8.store.pool.in_use", "{connection}", "Connections to the database in use; in the pool query: queries of callers.")
	most := r.gauge("p8.store.pool.limit", "{connection}", "Connections of the pool.")
	waiting := r.gauge("p8.store.pool.waiting", "{operation}", "Operations that wait for a connection.")
	r.observe(func(to metric.Observer) {
		for _, p := range o.Store().Pools {
			of := by("pool", p.Name)
			to.ObserveInt64(used, int64(p.InUse), of)
			to.ObserveInt64(most, int64(p.Most), of)
			to.ObserveInt64(waiting, int64(p.Waiting), of)
		}
	})
}

func (o *Observer) caches(r *registration) {
	hits := r.counter("p8.cache.hits", "{lookup}", "Lookups that a cache answered.")
	misses := r.counter("p8.cache.misses", "{lookup}", "Lookups that a cache could not answer.")
	bytes := r.gauge("p8.cache.memory", "By", "Memory that a cache takes, of those that count it.")
	r.observe(func(to metric.Observer) {
		use := func(cache string, h, m uint64) {
			to.ObserveInt64(hits, int64(h), by("cache", cache))
			to.ObserveInt64(misses, int64(m), by("cache", cache))
		}
		if o.Agents != nil {
			s := o.Agents()
			use("agents", s.Hits, s.Misses)
		}
		if o.Keys != nil {
			h, m := o.Keys()
			use("api_keys", h, m)
		}
		if o.Store != nil {
			for _, x := range o.Store().Indexes {
				use(x.Name+"_index", x.Hits, x.Misses)
				to.ObserveInt64(bytes, int64(x.Bytes), by("cache", x.Name+"_index"))
			}
		}
	})
}

func (o *Observer) quotas(r *registration) {
	used := r.part("p8.quota.used", "1", "The highest part of a limit that any tenant, user or key has used; 1 is all of it.")
	refused := r.counter("p8.quota.refusals", "{request}", "Requests, turns and steps that a quota refused.")
	r.observe(func(to metric.Observer) {
		u := o.Quotas()
		for of, part := range u.Highest {
			to.ObserveFloat64(used, part, by("subject", of.Kind, "limit", of.What))
		}
		for of, n := range u.Refusals {
			to.ObserveInt64(refused, int64(n), by("subject", of.Kind, "limit", of.What))
		}
	})
}
