package api_test

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/store"
)

// fake is a chat with one run, whose events come from the test.
type fake struct {
	mu     sync.Mutex
	id     identity.Identity
	req    chat.Request
	starts int
	// past is the Past of the next turn.
	past     int64
	run      store.Run
	log      []event.Event
	more     chan struct{} // closed when there is more
	ended    bool
	requests []store.RunRequest
	// joined gets a value for every reader that comes.
	joined chan struct{}
}

func newFake() *fake {
	return &fake{more: make(chan struct{}), joined: make(chan struct{}, 8), run: store.Run{
		ID: "11111111-1111-1111-1111-111111111111", SessionID: "s1", AgentName: "general", Model: "test:model",
		MessageID: "22222222-2222-2222-2222-222222222222", Status: store.RunRunning, CreatedAt: created, UpdatedAt: created,
	}}
}

// newTalk returns a server over the fake.
func newTalk(t testing.TB, f *fake) *server {
	t.Helper()
	s := newServer(t, setup{noStore: true})
	s.Handler = talkOver(f, s)
	return s
}

// talkOver returns a handler over another chat.
func talkOver(c api.Chat, s *server) *api.Handler {
	o := api.Options{Chat: c, Catalog: s.catalog, TrustHeaders: true, Logger: slog.New(slog.DiscardHandler), Now: now, NewID: counter("request-%d")}
	if f, ok := c.(*fake); ok {
		o.Store = listing{f: f}
	}
	return api.New(o)
}

// listing is a store that has the fake's run.
type listing struct {
	api.Store
	f *fake
}

func (l listing) Runs(_ context.Context, f store.RunFilter) ([]store.Run, string, error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if f.SessionID != "" && f.SessionID != l.f.run.SessionID {
		return nil, "", nil
	}
	for _, s := range f.Statuses {
		if s == l.f.run.Status {
			return []store.Run{l.f.run}, "", nil
		}
	}
	if len(f.Statuses) > 0 {
		return nil, "", nil
	}
	return []store.Run{l.f.run}, "next", nil
}

// say adds events to the run; Done ends it, or makes it wait.
func (f *fake) say(data ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range data {
		e := event.Event{RunID: f.run.ID, Agent: "general", Seq: int64(len(f.log) + 1)}
		switch d := d.(type) {
		case string:
			e.Type, e.Text = event.Text, d
		case event.Data:
			e.Type, e.Data = d.EventType(), d
		}
		f.log = append(f.log, e)
		if done, ok := e.Data.(*event.DoneData); ok {
			f.ended = true
			f.run.Reason = done.Reason
			f.run.Status = map[string]string{
				event.ReasonPaused: store.RunWaiting, event.ReasonToolCalls: store.RunWaiting,
				event.ReasonError: store.RunFailed, event.ReasonCancelled: store.RunCancelled,
			}[done.Reason]
			if f.run.Status == "" {
				f.run.Status = store.RunCompleted
			}
		}
	}
	f.run.LastSeq = int64(len(f.log))
	close(f.more)
	f.more = make(chan struct{})
}

// goOn makes a waiting run run again.
func (f *fake) goOn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.run.Status, f.past = false, store.RunRunning, f.run.LastSeq
}

func (f *fake) turn() *chat.Turn {
	t := chat.NewTurn(f.read)
	t.RunID, t.SessionID, t.MessageID = f.run.ID, f.run.SessionID, f.run.MessageID
	t.Agent, t.Model, t.Protocol, t.Past = f.run.AgentName, f.run.Model, f.run.Protocol, f.past
	select {
	case f.joined <- struct{}{}:
	default:
	}
	return t
}

func (f *fake) read(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			f.mu.Lock()
			batch, ended, more := f.log[min(after, int64(len(f.log))):], f.ended, f.more
			f.mu.Unlock()
			for _, e := range batch {
				after = e.Seq
				if d, ok := e.Data.(*event.DoneData); ok && d.Reason == event.ReasonPaused && !f.isLast(e.Seq) {
					continue
				}
				if !yield(e, nil) {
					return
				}
			}
			if ended && f.isLast(after) {
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(event.Event{}, ctx.Err())
				return
			}
		}
	}
}

func (f *fake) isLast(seq int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended && seq >= int64(len(f.log))
}

func (f *fake) Start(ctx context.Context, req chat.Request) (*chat.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, _ = identity.From(ctx)
	f.req = req
	f.starts++
	if f.id.SessionID != "" {
		f.run.SessionID = f.id.SessionID
	}
	if f.run.Protocol == "" {
		f.run.Protocol = req.Protocol
	}
	return f.turn(), nil
}

func (f *fake) Active(_ context.Context, sessionID string) (*chat.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sessionID != f.run.SessionID || f.run.Status != store.RunRunning {
		return nil, nil
	}
	t := f.turn()
	t.Past = 0
	return t, nil
}

func (f *fake) Open(_ context.Context, id string) (*chat.Turn, store.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != f.run.ID {
		return nil, store.Run{}, store.ErrNotFound
	}
	t := f.turn()
	t.Past = 0
	return t, f.run, nil
}

func (f *fake) Stop(ctx context.Context, id string) (store.Run, error) {
	if _, run, err := f.Open(ctx, id); err != nil || run.Status == store.RunCompleted {
		return run, err
	}
	f.say(&event.DoneData{Reason: event.ReasonCancelled})
	_, run, err := f.Open(ctx, id)
	return run, err
}

func (f *fake) Resume(ctx context.Context, id string) (*chat.Turn, error) {
	switch {
	case id != f.run.ID:
		return nil, store.ErrNotFound
	case f.run.Status != store.RunInterrupted:
		return nil, chat.ErrNotResumable
	}
	f.goOn() // before anybody hears of it, and lets it say more
	t, _, err := f.Open(ctx, id)
	return t, err
}

func (f *fake) Delete(_ context.Context, id string) error {
	if id != f.run.ID {
		return store.ErrNotFound
	}
	f.run.ID = ""
	return nil
}

func (f *fake) Requests(_ context.Context, filter store.RequestFilter) (page []store.RunRequest, next string, err error) {
	for _, r := range f.requests {
		if filter.Status == "" || filter.Status == r.Status {
			page = append(page, r)
		}
	}
	return page, "", nil
}

func (f *fake) Request(_ context.Context, id string) (store.RunRequest, error) {
	for _, r := range f.requests {
		if r.ID == id {
			return r, nil
		}
	}
	return store.RunRequest{}, store.ErrNotFound
}

func (f *fake) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *chat.Turn, error) {
	for i := range f.requests {
		r := &f.requests[i]
		switch {
		case r.ID != id:
			continue
		case r.Status != store.RequestOpen:
			return *r, nil, store.ErrDecided
		}
		r.Status, r.Content, r.Comment, r.DecidedVia, r.DecidedAt = d.Status, d.Content, d.Comment, d.Via, created.Add(time.Hour)
		f.goOn()
		return *r, f.turn(), nil
	}
	return store.RunRequest{}, nil, store.ErrNotFound
}
