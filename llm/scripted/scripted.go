// Package scripted is a model for tests that plays a script.
//
// A script is a list of turns; each call of the model plays the next one.
//
//	model := scripted.New(
//		scripted.Call("search", `{"query":"LOOKUP p8"}`),
//		scripted.Text("p8 is ", "one binary."),
//	)
//	… run the agent …
//	model.AssertDone(t)
//
// A [Turn] may also reason, call several tools at once, fail, warn, hand over to
// another model, wait for the test before each chunk, and check its request.
// [Model.Requests] returns the requests. A call after the last turn fails;
// [Model.AssertDone] fails the test if turns are left.
package scripted

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/p8-org/p8/llm"
)

// ErrExhausted is yielded by a call after the last turn.
var ErrExhausted = errors.New("scripted: the script has no more turns")

// Turn is the answer to one call of the model. Its parts are sent in the order of the
// fields; Usage and the reason to finish follow, unless Err ends the turn.
type Turn struct {
	// First is sent before everything else: warnings, another model's name.
	First     []llm.Chunk
	Reasoning []string
	// Thoughts are whole blocks of reasoning; their texts are not sent in pieces.
	Thoughts []llm.Reasoning
	// Text is sent as one chunk for each element.
	Text []string
	// Calls are made at once. An empty ID becomes call_1, call_2, … counted
	// through the script. Arguments may be any text, garbage included.
	Calls []llm.ToolCall
	// Chunks are sent unchanged, for everything that the other fields cannot express.
	Chunks []llm.Chunk
	Usage  llm.Usage
	// Finish is stop, or tool_calls when there are Calls, if it is empty.
	Finish llm.Finish
	// Err ends the turn after everything else, in place of Usage and Finish.
	Err error

	// Check checks the request before anything is sent; its error ends the turn, and
	// Done reports it.
	Check func(*llm.Request) error
	// Before runs before each chunk, counted from 0, and may block; its error
	// ends the turn. See Until.
	Before func(ctx context.Context, chunk int) error
}

// Text returns a turn that sends the chunks.
func Text(chunks ...string) Turn { return Turn{Text: chunks} }

// Instead returns the chunks that announce another model, for Turn.First.
func Instead(name, why string) []llm.Chunk {
	return []llm.Chunk{{Kind: llm.ChunkModel, Name: name, Text: why}}
}

// Call returns a turn that calls one tool.
func Call(name, arguments string) Turn {
	return Turn{Calls: []llm.ToolCall{{Name: name, Arguments: arguments}}}
}

// Fail returns a turn that fails at once.
func Fail(err error) Turn { return Turn{Err: err} }

// Until returns a Turn.Before that blocks before the given chunk until it receives from
// ch, ch is closed, or the context ends.
func Until(chunk int, ch <-chan struct{}) func(context.Context, int) error {
	return func(ctx context.Context, i int) error {
		if i != chunk {
			return nil
		}
		select {
		case <-ch:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Options configure a Model; the zero value works.
type Options struct {
	// Name is "scripted:test" when empty.
	Name         string
	Capabilities llm.Capabilities
	// Repeat starts the script again at its end, for benchmarks; requests are not
	// kept.
	Repeat bool
}

// Model plays a script. It is safe for concurrent use.
type Model struct {
	options Options
	turns   []turn

	mu       sync.Mutex
	calls    int
	requests []llm.Request
	failures []error
}

// turn is a Turn with its chunks, so that playing it allocates nothing.
type turn struct {
	Turn
	chunks []llm.Chunk
}

// New makes a model that plays the turns.
func New(turns ...Turn) *Model { return NewWith(Options{}, turns...) }

// NewWith makes a model that plays the turns, with options.
func NewWith(o Options, turns ...Turn) *Model {
	if o.Name == "" {
		o.Name = "scripted:test"
	}
	m := &Model{options: o}
	calls := 0
	for _, t := range turns {
		m.turns = append(m.turns, turn{t, t.play(&calls)})
	}
	return m
}

// play converts the turn to chunks; calls counts the script's tool calls.
func (t *Turn) play(calls *int) []llm.Chunk {
	chunks := slices.Clone(t.First)
	for _, s := range t.Reasoning {
		chunks = append(chunks, llm.Chunk{Kind: llm.ChunkReasoning, Text: s})
	}
	for i := range t.Thoughts {
		chunks = append(chunks, llm.Chunk{Kind: llm.ChunkThought, Thought: &t.Thoughts[i]})
	}
	for _, s := range t.Text {
		chunks = append(chunks, llm.Chunk{Kind: llm.ChunkText, Text: s})
	}
	for i, c := range t.Calls {
		*calls++
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", *calls)
		}
		chunks = append(chunks, llm.Chunk{Kind: llm.ChunkToolCall, Call: i, ID: c.ID, Name: c.Name, Signature: c.Signature})
		if c.Arguments != "" {
			chunks = append(chunks, llm.Chunk{Kind: llm.ChunkToolCall, Call: i, Text: c.Arguments})
		}
	}
	chunks = append(chunks, t.Chunks...)
	if t.Err != nil {
		return chunks
	}
	if t.Usage != (llm.Usage{}) {
		chunks = append(chunks, llm.Chunk{Kind: llm.ChunkUsage, Usage: t.Usage})
	}
	finish := t.Finish
	switch {
	case finish != "":
	case len(t.Calls) > 0:
		finish = llm.FinishToolCalls
	case len(t.Chunks) > 0 && t.Chunks[len(t.Chunks)-1].Kind == llm.ChunkFinish:
		return chunks
	default:
		finish = llm.FinishStop
	}
	return append(chunks, llm.Chunk{Kind: llm.ChunkFinish, Finish: finish})
}

// Name returns the model's name.
func (m *Model) Name() string { return m.options.Name }

// Capabilities returns those of the options.
func (m *Model) Capabilities() llm.Capabilities { return m.options.Capabilities }

// Stream plays the next turn, which is taken when the sequence starts.
func (m *Model) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		t, err := m.next(req)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		for i := range t.chunks {
			if err := t.ready(ctx, i); err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			if !yield(t.chunks[i], nil) {
				return
			}
		}
		if t.Err != nil {
			if err := t.ready(ctx, len(t.chunks)); err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			yield(llm.Chunk{}, t.Err)
		}
	}
}

// next takes the next turn and notes the request.
func (m *Model) next(req *llm.Request) (*turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.calls
	m.calls++
	if m.options.Repeat && len(m.turns) > 0 {
		n %= len(m.turns)
	} else {
		m.requests = append(m.requests, clone(req))
	}
	if n >= len(m.turns) {
		return nil, fmt.Errorf("%w: it has %d, and this is call %d", ErrExhausted, len(m.turns), m.calls)
	}
	t := &m.turns[n]
	if t.Check != nil {
		if err := t.Check(req); err != nil {
			err = fmt.Errorf("scripted: turn %d: %w", n+1, err)
			m.failures = append(m.failures, err)
			return nil, err
		}
	}
	return t, nil
}

func (t *turn) ready(ctx context.Context, chunk int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.Before == nil {
		return nil
	}
	return t.Before(ctx, chunk)
}

// clone copies what the caller may change after the call.
func clone(req *llm.Request) llm.Request {
	c := *req
	c.Messages = slices.Clone(req.Messages)
	c.Tools = slices.Clone(req.Tools)
	return c
}

// Requests returns the requests so far, in order.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Done reports turns that were not used, calls after the last turn, and failed checks;
// nil if the script was used up exactly.
func (m *Model) Done() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	errs := slices.Clone(m.failures)
	if m.options.Repeat {
		return errors.Join(errs...)
	}
	if n := len(m.turns); m.calls < n {
		errs = append(errs, fmt.Errorf("scripted: %d of %d turns were used; turn %d was not asked for", m.calls, n, m.calls+1))
	} else if m.calls > n {
		errs = append(errs, fmt.Errorf("%w: it has %d, and the model was called %d times", ErrExhausted, n, m.calls))
	}
	return errors.Join(errs...)
}

// T is the part of testing.TB that AssertDone needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// AssertDone fails the test unless the script was used up exactly.
func (m *Model) AssertDone(t T) {
	t.Helper()
	if err := m.Done(); err != nil {
		t.Errorf("%v", err)
	}
}
