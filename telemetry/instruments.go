package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instruments are what operations record besides spans.
type instruments struct {
	durations            [kinds]metric.Float64Histogram
	tokens               metric.Int64Histogram
	money                metric.Float64Counter
	firstChunk, perChunk metric.Float64Histogram
	descriptions         [kinds]description
	// values bound the attributes by which the instruments are split.
	values map[attribute.Key]*Names
}

// maxValues bounds the values of an attribute in the metrics that others may choose, maxOwn that of
// operations and routes, which p8 has many of.
const maxValues, maxOwn = 100, 400

func newNames(key attribute.Key) *Names {
	if key == DBOperation || key == HTTPRoute {
		return NewNames(maxOwn)
	}
	return NewNames(maxValues)
}

func newInstruments(m metric.Meter) (instruments, error) {
	i := instruments{values: map[attribute.Key]*Names{errorType: newNames(errorType)}}
	var errs [kinds + 4]error
	for k := range kinds {
		d := describe(k)
		i.descriptions[k] = d
		for _, key := range d.by {
			if i.values[key] == nil {
				i.values[key] = newNames(key)
			}
		}
		i.durations[k], errs[k] = m.Float64Histogram(d.duration, metric.WithUnit("s"),
			metric.WithDescription(d.about), metric.WithExplicitBucketBoundaries(d.bounds...))
	}
	i.tokens, errs[kinds] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of requests to models."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	i.money, errs[kinds+1] = m.Float64Counter("p8.cost", metric.WithUnit("{USD}"),
		metric.WithDescription("Price of requests to models, by p8's table of prices."))
	i.firstChunk, errs[kinds+2] = m.Float64Histogram("gen_ai.client.operation.time_to_first_chunk", metric.WithUnit("s"),
		metric.WithDescription("Time from a request to a model to the first chunk of its answer."),
		metric.WithExplicitBucketBoundaries(.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10))
	i.perChunk, errs[kinds+3] = m.Float64Histogram("gen_ai.client.operation.time_per_output_chunk", metric.WithUnit("s"),
		metric.WithDescription("Time between two chunks of a model's answer."),
		metric.WithExplicitBucketBoundaries(.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5))
	return i, errors.Join(errs[:]...)
}
