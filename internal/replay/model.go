package replay

import (
	"context"
	"errors"
	"iter"

	"github.com/p8-org/p8/llm"
)

// Provider wraps the constructor of a provider's models. While a tape is played, construct
// is not called: no model needs its key. A nil Tape returns construct.
func (t *Tape) Provider(name string, construct llm.Constructor) llm.Constructor {
	if t == nil {
		return construct
	}
	return func(model string) (llm.Model, error) {
		asked := name + ":" + model
		if t.playing {
			return &player{t, t.recorded(asked)}, nil
		}
		m, err := construct(model)
		if err != nil {
			return nil, err
		}
		c := m.Capabilities()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.cassette.Models = append(t.cassette.Models, Model{asked, m.Name(), c.NativeOutput, c.Images, c.Documents, c.Takes})
		return &recorder{t, m}, nil
	}
}

// recorded returns a model of the cassette. One that was not recorded can do what the first
// one can.
func (t *Tape) recorded(asked string) Model {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.models[asked]
	if !ok {
		if len(t.cassette.Models) > 0 {
			m = t.cassette.Models[0]
		}
		m.Asked, m.Name = asked, asked
	}
	return m
}

// recorder is a model whose answers are recorded.
type recorder struct {
	tape *Tape
	llm.Model
}

// Stream streams the model's answer, and keeps it when it ends.
func (r *recorder) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	if inside(ctx) {
		return r.Model.Stream(ctx, req)
	}
	return func(yield func(llm.Chunk, error) bool) {
		kept := Exchange{Request: r.tape.request(r.Name(), req)}
		i := r.tape.begin(kept)
		var a answer
		var failed error
		defer func() { r.tape.end(i, a.done(r.tape.clean), r.tape.failure(failed)) }()
		for c, err := range r.Model.Stream(ctx, req) {
			if err != nil {
				failed = err
			} else {
				a.add(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// begin keeps a request, in the order in which requests begin.
func (t *Tape) begin(x Exchange) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tool := range x.Tools {
		t.offered[tool.Name] = true
	}
	t.cassette.Exchanges = append(t.cassette.Exchanges, x)
	return len(t.cassette.Exchanges) - 1
}

func (t *Tape) end(i int, pieces []Piece, failed *Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cassette.Exchanges[i].Answer, t.cassette.Exchanges[i].Failed = pieces, failed
}

func (t *Tape) failure(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Kind: llm.Unavailable}
	var known *llm.Error
	if errors.As(err, &known) {
		f.Kind, f.Status, f.Hint = known.Kind, known.Status, t.clean(known.Hint)
	}
	return f
}

// player is a recorded model.
type player struct {
	tape  *Tape
	model Model
}

// Name returns the name of the recorded model.
func (p *player) Name() string { return p.model.Name }

// Capabilities returns what the recorded model could do.
func (p *player) Capabilities() llm.Capabilities {
	m := p.model
	return llm.Capabilities{NativeOutput: m.NativeOutput, Images: m.Images, Documents: m.Documents, Takes: m.Takes}
}

// Stream plays the recorded answer.
func (p *player) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		x := p.tape.find(p.tape.request(p.Name(), req))
		if x == nil {
			yield(llm.Chunk{}, &llm.Error{Kind: llm.NoModel, Model: p.Name(), Hint: "the recording has no answer to this request"})
			return
		}
		for _, piece := range x.Answer {
			for _, c := range piece.chunks() {
				if err := ctx.Err(); err != nil {
					yield(llm.Chunk{}, err)
					return
				}
				if !yield(c, nil) {
					return
				}
			}
		}
		if f := x.Failed; f != nil {
			yield(llm.Chunk{}, &llm.Error{Kind: f.Kind, Model: p.Name(), Status: f.Status, Hint: f.Hint})
		}
	}
}
