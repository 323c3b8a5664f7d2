package chat_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// outage is a store that fails to end runs, and to do what is named, until it is
// over; after is called, once, after a run is read.
type outage struct {
	*store.Store
	mu     sync.Mutex
	over   bool
	claims bool // claims are made, and say that they failed
	after  func()
}

func (o *outage) set(over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = over
}

var errOutage = &store.Failure{Op: "write", Err: errors.New("disk full")}

func (o *outage) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	o.mu.Lock()
	over := o.over
	o.mu.Unlock()
	if !over && w.Status != "" && w.Status != store.RunRunning {
		return false, errOutage
	}
	return o.Store.WriteRun(ctx, w)
}

func (o *outage) ClaimRun(ctx context.Context, id, process string, allowed store.RunsAllowed) (store.Run, error) {
	r, err := o.Store.ClaimRun(ctx, id, process, allowed)
	if o.claims && err == nil {
		return store.Run{}, errOutage
	}
	return r, err
}

func (o *outage) Run(ctx context.Context, id string) (store.Run, error) {
	r, err := o.Store.Run(ctx, id)
	if after := o.after; after != nil {
		o.after = nil
		after()
	}
	return r, err
}

// nobody finds no run that another process left.
type nobody struct{}

func (nobody) RecoverRuns(context.Context, string, time.Time) ([]store.OwnedRun, error) {
	return nil, nil
}

// TestAnEndThatCannotBeStored: the session is not taken for ever, and the answer is
// stored when the store is back.
func TestAnEndThatCannotBeStored(t *testing.T) {
	for name, later := range map[string]func(*testing.T, *chat.Service, context.Context, string){
		"a message": func(t *testing.T, s *chat.Service, ctx context.Context, _ string) { turn(t, s, ctx, "2") },
		"a look at the run": func(t *testing.T, s *chat.Service, ctx context.Context, id string) {
			if _, r, err := s.Open(ctx, id); err != nil || r.Status != store.RunCompleted {
				t.Errorf("%+v %v", r, err)
			}
		},
		"nobody": func(t *testing.T, s *chat.Service, ctx context.Context, _ string) {
			if err := s.Recover(context.Background(), nobody{}, time.Now()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, alone(func(t *testing.T) {
			kept := &outage{Store: newStore(t)}
			s := newService(t, scripted.New(scripted.Text("One"), scripted.Text("Two")), chat.Options{Patience: time.Millisecond, Store: kept, Logger: slog.New(slog.DiscardHandler)}, helper)
			ctx := as(t.Context(), "alice", "s1")
			events := turn(t, s, ctx, "1")
			if got := story(events); got[len(got)-1] != "done stop" {
				t.Errorf("%q", got)
			}
			synctest.Wait() // it tried to store its end
			kept.set(true)
			later(t, s, ctx, events[0].RunID)
			if diff := cmp.Diff([]string{"1 user 1", "2 assistant One"}, transcript(t, kept, ctx, "s1")[:2]); diff != "" {
				t.Error(diff)
			}
			if r, err := kept.Run(ctx, events[0].RunID); err != nil || r.Status != store.RunCompleted {
				t.Errorf("%+v %v", r, err)
			}
		}))
	}
}

// paused is a service with a run that waits for an approval. Another service began the
// run, and is closed: a run looks once more for an answer after its pause is stored.
func paused(t *testing.T, kept chat.Store, more ...scripted.Turn) (*chat.Service, context.Context, string) {
	t.Helper()
	o := chat.Options{Patience: time.Millisecond, Store: kept, Logger: slog.New(slog.DiscardHandler)}
	ctx := as(t.Context(), "alice", "s1")
	first := newService(t, scripted.New(scripted.Turn{Text: []string{"Let me see."}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}}), o, careful)
	request := find[*event.ActionRequestData](t, turn(t, first, ctx, "Go")).RequestID
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return newService(t, scripted.New(more...), o, careful), ctx, request
}

// TestARunThatCannotBeTakenUpOrEnded: it waits as before, and can be answered later.
func TestARunThatCannotBeTakenUpOrEnded(t *testing.T) {
	for name, fail := range map[string]func(t *testing.T, s *chat.Service, kept *outage, ctx context.Context, run string){
		"a claim whose answer is lost": func(t *testing.T, s *chat.Service, kept *outage, ctx context.Context, run string) {
			kept.claims = true
			if _, err := s.Resume(ctx, run); err == nil {
				t.Error("no error")
			}
			kept.claims = false
		},
		"a stop": func(t *testing.T, s *chat.Service, kept *outage, ctx context.Context, run string) {
			kept.set(false)
			if _, err := s.Stop(ctx, run); err == nil {
				t.Error("no error")
			}
			kept.set(true)
			if err := s.Recover(context.Background(), nobody{}, time.Now()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &outage{Store: newStore(t), over: true}
			s, ctx, request := paused(t, kept, scripted.Text("Done."))
			r, err := s.Request(ctx, request)
			if err != nil {
				t.Fatal(err)
			}
			if name == "a claim whose answer is lost" {
				if _, err := kept.Decide(ctx, request, store.Decision{Status: store.RequestAccepted}); err != nil {
					t.Fatal(err)
				}
			}
			fail(t, s, kept, ctx, r.RunID)
			if now, err := kept.Run(ctx, r.RunID); err != nil || now.Status != store.RunWaiting {
				t.Fatalf("%+v %v", now, err)
			}
			var again *chat.Turn
			if name == "a stop" {
				_, again, err = s.Decide(ctx, request, store.Decision{Status: store.RequestAccepted})
			} else {
				again, err = s.Resume(ctx, r.RunID)
			}
			if err != nil || again == nil {
				t.Fatal(again, err)
			}
			if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestAStopThatComesWithAnAnswer: whoever goes on with the run a moment before it is
// stopped is stopped.
func TestAStopThatComesWithAnAnswer(t *testing.T) {
	kept := &outage{Store: newStore(t), over: true}
	never := make(chan struct{})
	s, ctx, request := paused(t, kept, scripted.Turn{Text: []string{"Never"}, Before: scripted.Until(0, never)})
	r, err := s.Request(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	kept.after = func() {
		if _, again, err := s.Decide(ctx, request, store.Decision{Status: store.RequestAccepted}); err != nil || again == nil {
			t.Error(again, err)
		}
	}
	stopped, err := s.Stop(ctx, r.RunID)
	if err != nil || stopped.Status != store.RunCancelled {
		t.Errorf("%+v %v", stopped, err)
	}
}

// silent is a store that cannot be asked anything for a while.
type silent struct {
	*store.Store
	heard int
}

func (s *silent) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	if len(w.Requests) > 0 {
		if s.heard++; s.heard == 1 {
			return false, errOutage
		}
	}
	return s.Store.WriteRun(ctx, w)
}

// TestAQuestionThatCannotBeStored: it is stored with the pause, or nobody could ever
// answer it.
func TestAQuestionThatCannotBeStored(t *testing.T) {
	s, ctx, request := paused(t, &silent{Store: newStore(t)}, scripted.Text("Done."))
	_, again, err := s.Decide(ctx, request, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
		t.Errorf("%q", got)
	}
}

// prompt is a store whose user answers when a run is about to pause.
type prompt struct {
	*store.Store
	before func()
}

func (p *prompt) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	if before := p.before; before != nil && w.Status == store.RunWaiting {
		p.before = nil
		before()
	}
	return p.Store.WriteRun(ctx, w)
}

// TestAnAnswerThatComesWithThePause: the run goes on, by itself.
func TestAnAnswerThatComesWithThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &prompt{Store: newStore(t)}
		ctx := as(t.Context(), "alice", "s1")
		model := scripted.New(scripted.Call("echo", `{"text":"a"}`), scripted.Text("Done."))
		s := newService(t, model, chat.Options{Patience: time.Millisecond, Store: kept}, careful)
		kept.before = func() {
			if _, again, err := s.Decide(ctx, requests(t, s, ctx)[0].ID, store.Decision{Status: store.RequestAccepted}); err != nil || again != nil {
				t.Error(again, err)
			}
		}
		id := turn(t, s, ctx, "Go")[0].RunID
		synctest.Wait()
		if _, r, err := s.Open(ctx, id); err != nil || r.Status != store.RunCompleted {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// TestAnAnswerBeforeThePause: an agent that asks the user while another one is still
// at it goes on within the run, and what it said before is part of its answer.
func TestAnAnswerBeforeThePause(t *testing.T) {
	gate := make(chan struct{})
	documents := []string{
		flatNamed("boss", ""), flatNamed("slow", ""),
		strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1),
	}
	models := cast{
		"boss": scripted.New(asks("worker", "Hi", "slow", "Hi"), scripted.Text("So.")),
		"slow": scripted.New(scripted.Turn{Text: []string{"Late."}, Before: scripted.Until(0, gate)}),
		"worker": scripted.New(
			scripted.Turn{Text: []string{"Let me look."}, Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}},
			scripted.Text("Found.")),
	}
	s := stage(t, chat.Options{Patience: time.Millisecond, Store: newStore(t)}, models, documents)
	ctx := as(t.Context(), "alice", "s1")
	started, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	for e := range started.Events(ctx) {
		if d, ok := e.Data.(*event.ActionRequestData); ok {
			if _, _, err := s.Decide(ctx, d.RequestID, store.Decision{Status: store.RequestAccepted}); err != nil {
				t.Error(err)
			}
			close(gate)
		}
	}
	if told := results(t, models["boss"])[0]; told["text_response"] != "Let me look.\n\nFound." || told["output"] != "Found." {
		t.Errorf("%v", told)
	}
	models.done(t)
}
