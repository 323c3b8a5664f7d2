// Package trace puts together what happened in the turns of a session, as a tree: requests to
// models, calls of tools, asked agents at any depth, waits for the user. It reads the database
// alone: the rows of the messages, which stay, and the logs of runs while they are kept. Without
// its log, a run shows what its models consumed in all, and not each request.
package trace

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/p8-org/p8/store"
)

// Store has the sessions and their runs. Implemented by *store.Store.
type Store interface {
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Run(ctx context.Context, id string) (store.Run, error)
	RunEvents(ctx context.Context, id string, after int64, most int) ([]store.RunEvents, error)
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
}

// The kinds of nodes.
const (
	Turn  = "turn"
	Agent = "agent"
	Model = "model"
	Tool  = "tool"
	Wait  = "wait"
	// More stands for siblings that are left out.
	More = "more"
)

// Failed is the status of what failed. The others are those of runs and of requests; "" is a
// success.
const Failed = store.RunFailed

// Trace is what happened in a session, or in one run of it.
type Trace struct {
	SessionID string  `json:"session_id"`
	Turns     []*Node `json:"turns"`
	// Earlier is true if the session has earlier turns.
	Earlier bool `json:"earlier,omitempty"`
}

// Node is something that happened, with what happened below it.
type Node struct {
	Kind string `json:"kind"`
	// Name is the agent, the model, the tool, or what is waited for; ID is the run, the call or
	// the request.
	Name   string `json:"name"`
	ID     string `json:"id,omitempty"`
	Status string `json:"status,omitempty"`
	// Detail is the beginning of the user's message, of the arguments, or of the error.
	Detail string `json:"detail,omitempty"`
	// StartedAt is set for turns. StartMS is the time since the turn's start, -1 if it is not
	// known.
	StartedAt    time.Time `json:"started_at,omitzero"`
	StartMS      int64     `json:"start_ms"`
	DurationMS   int64     `json:"duration_ms"`
	FirstTokenMS int64     `json:"first_token_ms,omitempty"`
	Sum
	// Count is how many equal nodes this one stands for, if more than one.
	Count    int     `json:"count,omitempty"`
	Children []*Node `json:"children,omitempty"`

	start, end time.Time
	all        time.Duration // of a node that stands for several
}

// Sum is what a node and those below it consumed.
type Sum struct {
	InputTokens     int     `json:"input_tokens,omitempty"`
	OutputTokens    int     `json:"output_tokens,omitempty"`
	CachedTokens    int     `json:"cached_tokens,omitempty"`
	ReasoningTokens int     `json:"reasoning_tokens,omitempty"`
	CostUSD         float64 `json:"cost_usd,omitempty"`
}

func (s *Sum) add(o Sum) {
	s.InputTokens += o.InputTokens
	s.OutputTokens += o.OutputTokens
	s.CachedTokens += o.CachedTokens
	s.ReasoningTokens += o.ReasoningTokens
	s.CostUSD += o.CostUSD
}

// Options say how much is read and shown.
type Options struct {
	// Turns is the most turns of a session, the newest ones; 20 if 0, at most 200.
	Turns int
	// All shows repeated and numerous calls one by one, up to mostNodes of a turn.
	All bool
}

// Reader reads traces.
type Reader struct {
	Store Store
	// Now is time.Now if nil; what has not ended lasts until now.
	Now func() time.Time
}

const (
	// mostRows bounds the rows that are read, mostLog the bytes of a run's log.
	mostRows = 10_000
	mostLog  = 16 << 20
	// mostRequests bounds the questions of a run.
	mostRequests = 500
)

// Session reads the newest turns of a session of the caller.
func (r Reader) Session(ctx context.Context, id string, o Options) (*Trace, error) {
	if _, err := r.Store.Session(ctx, id); err != nil {
		return nil, err
	}
	return r.read(ctx, id, "", o)
}

// Run reads one run of the caller. A run that is deleted, with its log, is store.ErrNotFound; its
// session still has the turn.
func (r Reader) Run(ctx context.Context, id string, o Options) (*Trace, error) {
	run, err := r.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.read(ctx, run.SessionID, id, o)
}

func (r Reader) read(ctx context.Context, session, only string, o Options) (*Trace, error) {
	rows, err := r.Store.Messages(ctx, session, store.MessageFilter{Last: mostRows, Shares: true})
	if err != nil {
		return nil, err
	}
	t := &Trace{SessionID: session, Turns: []*Node{}}
	var runs []string // in order; "" is work in the background
	byRun := map[string][]*store.Message{}
	for i := range rows {
		id := rows[i].RunID
		if only != "" && id != only {
			continue
		}
		if byRun[id] == nil {
			runs = append(runs, id)
		}
		byRun[id] = append(byRun[id], &rows[i])
	}
	if only != "" && len(runs) == 0 {
		runs = []string{only} // it has no rows yet
	}
	most := 20
	if o.Turns > 0 {
		most = min(o.Turns, 200)
	}
	if len(runs) > most {
		runs, t.Earlier = runs[len(runs)-most:], true
	}
	for _, id := range runs {
		n, err := r.turn(ctx, id, byRun[id], o)
		if err != nil {
			return nil, err
		}
		t.Turns = append(t.Turns, n)
	}
	slices.SortStableFunc(t.Turns, func(a, b *Node) int { return a.start.Compare(b.start) })
	return t, nil
}

// turn builds the tree of a run.
func (r Reader) turn(ctx context.Context, id string, rows []*store.Message, o Options) (*Node, error) {
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	b := newBuilder(id, now())
	if id != "" {
		if err := r.log(ctx, b, id); err != nil {
			return nil, err
		}
	}
	for _, m := range rows {
		b.row(m)
	}
	if id != "" {
		list, _, err := r.Store.Requests(ctx, store.RequestFilter{RunID: id, Limit: mostRequests})
		if err != nil {
			return nil, err
		}
		for i := range list {
			b.wait(&list[i])
		}
	}
	return b.finish(o.All), nil
}

// log reads the run and its log, if they are still there.
func (r Reader) log(ctx context.Context, b *builder, id string) error {
	run, err := r.Store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	b.run = &run
	after, read := int64(0), 0
	for read < mostLog {
		pieces, err := r.Store.RunEvents(ctx, id, after, 0)
		if errors.Is(err, store.ErrNotFound) {
			return nil // it was deleted meanwhile
		}
		if err != nil || len(pieces) == 0 {
			return err
		}
		for _, p := range pieces {
			read += len(p.Data)
			if err := b.events(p.Data, after); err != nil {
				return err
			}
			after = p.Last
		}
	}
	return nil
}
