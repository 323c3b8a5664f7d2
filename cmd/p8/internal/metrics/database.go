package metrics

import (
	"go.opentelemetry.io/otel/metric"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/telemetry"
)

// maxKinds bounds the kinds of jobs: another version may have left others in the database.
const maxKinds = 50

// sources are what is read of the database.
func sources() [2]string { return [...]string{"jobs", "backlog"} }

func (o *Observer) fail(i int, source string, err error) {
	o.failed[i].Add(1)
	o.Logger.Warn("numbers for the metrics could not be read", "source", source, "error", err)
}

func (o *Observer) queue(r *registration) {
	count := r.gauge("p8.jobs", "{job}", "Background jobs in the database, of all servers.")
	oldest := r.part("p8.jobs.oldest", "s", "How long the job that is due the longest has waited.")
	o.failures(r)
	r.observe(func(to metric.Observer) {
		all, ok := o.jobs.get()
		if !ok {
			return
		}
		var counts [maxKinds + 1]jobs.KindStats
		for i, k := range all {
			at := &counts[min(i, maxKinds)]
			if i >= maxKinds {
				k.Kind = telemetry.Other
			}
			at.Kind, at.Oldest = k.Kind, max(at.Oldest, k.Oldest)
			if at.States == nil {
				at.States = map[jobs.State]int{}
			}
			for state, n := range k.States {
				at.States[state] += n
			}
		}
		for _, k := range counts[:min(len(all), len(counts))] {
			for _, state := range jobs.States() {
				to.ObserveInt64(count, int64(k.States[state]), by("kind", k.Kind, "state", string(state)))
			}
			to.ObserveFloat64(oldest, k.Oldest.Seconds(), by("kind", k.Kind))
		}
	})
}

func (o *Observer) waiting(r *registration) {
	texts := r.gauge("p8.embedding.queue", "{text}", "Texts in the database that wait for a vector, 100,000 at most.")
	bad := r.gauge("p8.embedding.queue.failed", "{text}", "Those of them that could not be embedded yet.")
	asked := r.gauge("p8.approvals.waiting", "{request}", "Questions of runs that wait for their user, 100,000 at most.")
	r.observe(func(to metric.Observer) {
		if b, ok := o.backlog.get(); ok {
			to.ObserveInt64(texts, b.Embeddings)
			to.ObserveInt64(bad, b.Failed)
			to.ObserveInt64(asked, b.Requests)
		}
	})
}

func (o *Observer) failures(r *registration) {
	failed := r.counter("p8.metrics.failures", "{read}", "Reads of the database for these metrics that failed.")
	r.observe(func(to metric.Observer) {
		for i, name := range sources() {
			to.ObserveInt64(failed, o.failed[i].Load(), by("source", name))
		}
	})
}
