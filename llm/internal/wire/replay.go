package wire

import (
	"context"
	"io"

	"github.com/p8-org/p8/llm"
)

// Replay decodes recorded answers, without a network: for tests and benchmarks
// of a provider's decoder.
type Replay struct {
	client *Client
	x      exchange
}

// NewReplay makes a Replay that decodes with d.
func NewReplay(d Decoder) *Replay {
	return &Replay{client: NewClient(Options{Name: "replay", NewDecoder: func() Decoder { return d }}), x: exchange{decoder: d}}
}

// Decode reads the body of one response, as Stream would.
func (r *Replay) Decode(ctx context.Context, body io.Reader, yield func(llm.Chunk, error) bool) {
	out := Sink{yield: yield}
	r.x.events.reset(body)
	r.x.decoder.Reset(&out)
	if f := r.client.read(ctx, nil, &r.x, &out); f != nil && !out.stopped {
		yield(llm.Chunk{}, f.error(ctx))
	}
}

// NewSink makes a sink that passes its chunks to fn.
func NewSink(fn func(llm.Chunk)) *Sink {
	return &Sink{yield: func(c llm.Chunk, _ error) bool {
		fn(c)
		return true
	}}
}
