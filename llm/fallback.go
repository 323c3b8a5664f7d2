package llm

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync/atomic"
)

// FallbackOptions configure NewFallback.
type FallbackOptions struct {
	// Models are asked in this order.
	Models []Model
	// Logger logs every change of the model; slog.Default() when nil.
	Logger *slog.Logger
}

// NewFallback makes a model for one run that asks the first of the models, and the
// next one if it is rate limited, unavailable or too slow before the first chunk of
// its answer. A ChunkModel announces the next model. The run stays with the model
// that took over, because its reasoning and the provider's cache are there.
//
// After the first chunk an error is returned: shown text cannot be taken back. Only
// the last model retries, because another model answers sooner than a retry.
func NewFallback(o FallbackOptions) Model {
	if len(o.Models) == 1 {
		return o.Models[0]
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	f := &fallback{models: o.Models, log: o.Logger}
	for i, m := range o.Models {
		c := m.Capabilities()
		if i == 0 {
			f.able = c
		}
		f.able = f.able.and(c)
	}
	return f
}

type fallback struct {
	models []Model
	log    *slog.Logger
	able   Capabilities
	// at is the model that answers now.
	at atomic.Int32
}

// Name returns the name of the model that answers now.
func (f *fallback) Name() string {
	if len(f.models) == 0 {
		return "none"
	}
	return f.models[f.at.Load()].Name()
}

// Capabilities returns what all of the models can do, because a request is built
// before it is known which model answers it. Of the settings that not every model takes,
// it returns those of the first model: another one leaves out what it does not take.
func (f *fallback) Capabilities() Capabilities { return f.able }

func (c Capabilities) and(d Capabilities) Capabilities {
	return Capabilities{
		NativeOutput: c.NativeOutput && d.NativeOutput,
		Images:       c.Images && d.Images,
		Documents:    c.Documents && d.Documents,
		Takes:        c.Takes,
	}
}

// Stream asks the model that answers now, then those after it.
func (f *fallback) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if len(f.models) == 0 {
			yield(Chunk{}, &Error{Kind: NoModel, Hint: "set P8_DEFAULT_MODEL=provider:model"})
			return
		}
		for i := int(f.at.Load()); ; i++ {
			a, ask := attempt{yield: yield}, req
			last := i == len(f.models)-1
			if !last {
				once := *req
				once.Once = true
				ask = &once
			}
			a.stream(f.models[i].Stream(ctx, ask))
			if a.err == nil || a.stopped {
				return
			}
			why, ok := passing(a.err)
			if last || a.begun || !ok || ctx.Err() != nil {
				a.flush()
				if !a.stopped {
					yield(Chunk{}, a.err)
				}
				return
			}
			next := f.takeOver(ctx, i, why)
			if !yield(Chunk{Kind: ChunkModel, Name: next.Name(), Text: why.reason()}, nil) {
				return
			}
		}
	}
}

// takeOver makes the model after i the one that answers.
func (f *fallback) takeOver(ctx context.Context, i int, why *Error) Model {
	// Another request of the run may have advanced further.
	f.at.CompareAndSwap(int32(i), int32(i+1))
	next := f.models[i+1]
	f.log.WarnContext(ctx, "another model takes over", "from", f.models[i].Name(), "to", next.Name(), "kind", why.Kind, "status", why.Status, Said(why))
	return next
}

// passing reports whether another model may succeed after this failure.
func passing(err error) (*Error, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return nil, false
	}
	switch e.Kind {
	case RateLimit, Unavailable, Timeout:
		return e, true
	}
	return nil, false
}

// reason returns the error without its hint, which is for runs without another
// model.
func (e *Error) reason() string {
	short := *e
	short.Hint = ""
	return short.Error()
}

// attempt is one request to one model.
type attempt struct {
	yield func(Chunk, error) bool
	// held are the warnings before the answer. They are about this model, so they
	// are dropped if another one takes over.
	held []Chunk
	// begun is set by the first chunk of an answer.
	begun   bool
	stopped bool
	err     error
}

// stream passes the chunks on, and the usage even of a failed request.
func (a *attempt) stream(chunks iter.Seq2[Chunk, error]) {
	for chunk, err := range chunks {
		switch {
		case err != nil:
			a.err = err
			return
		case a.begun:
		case chunk.Kind == ChunkWarning:
			a.held = append(a.held, chunk)
			continue
		case chunk.Kind != ChunkUsage && chunk.Kind != ChunkModel:
			a.begun = true
			a.flush()
		}
		if a.stopped || !a.yield(chunk, nil) {
			a.stopped = true
			return
		}
	}
	a.flush()
}

// flush passes the held warnings on.
func (a *attempt) flush() {
	for _, chunk := range a.held {
		if a.stopped || !a.yield(chunk, nil) {
			a.stopped = true
			break
		}
	}
	a.held = nil
}
