package chat_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// unsure is a store whose connection breaks after what it is asked next: that is done, and
// its answer is lost. Nothing works from then on, until mend.
type unsure struct {
	*store.Store
	mu sync.Mutex
	// at names what breaks the connection: "begin", "claim", "end" of a run, "steer".
	at   string
	down bool
	// lose is called in place of a failure, and returns it.
	lose func() error
}

func (u *unsure) breaks(at string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at = at
}

func (u *unsure) mend() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.down = false
}

// ask does what the store is asked, unless the connection is broken.
func (u *unsure) ask(at string, do func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.down {
		return errOutage
	}
	err := do()
	if err != nil || at == "" || at != u.at {
		return err
	}
	u.at, u.down = "", true
	if u.lose != nil {
		return u.lose()
	}
	return errOutage
}

func (u *unsure) BeginRun(ctx context.Context, r store.RunStart) error {
	return u.ask("begin", func() error { return u.Store.BeginRun(ctx, r) })
}

func (u *unsure) ClaimRun(ctx context.Context, id, owner string, allowed store.RunsAllowed) (r store.Run, err error) {
	return r, u.ask("claim", func() error {
		r, err = u.Store.ClaimRun(ctx, id, owner, allowed)
		return err
	})
}

func (u *unsure) WriteRun(ctx context.Context, w store.RunWrite) (stop bool, err error) {
	at := ""
	switch {
	case w.Status != "" && w.Status != store.RunRunning:
		at = "end"
	case len(w.Events) == 0 && len(w.Messages) > 0:
		at = "steer"
	}
	return stop, u.ask(at, func() error {
		stop, err = u.Store.WriteRun(ctx, w)
		return err
	})
}

func (u *unsure) Run(ctx context.Context, id string) (r store.Run, err error) {
	err = u.ask("", func() error {
		r, err = u.Store.Run(ctx, id)
		return err
	})
	return r, err
}

func (u *unsure) Message(ctx context.Context, id string) (m store.Message, err error) {
	err = u.ask("", func() error {
		m, err = u.Store.Message(ctx, id)
		return err
	})
	return m, err
}

// recovers has a service tell the store the ends that it keeps.
func recovers(t *testing.T, s *chat.Service) {
	t.Helper()
	if err := s.Recover(context.Background(), nobody{}, time.Now()); err != nil {
		t.Error(err)
	}
}

// TestAPauseWhoseAnswerIsLost: the store has the pause, and this process does not know. It
// must not tell the pause once more when the run goes on.
func TestAPauseWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, goOn := &unsure{Store: newStore(t), at: "end"}, make(chan struct{})
		last := scripted.Text("Done.")
		last.Before = scripted.Until(0, goOn)
		o := chat.Options{Patience: time.Millisecond, Store: kept, Logger: slog.New(slog.DiscardHandler)}
		s := newService(t, scripted.New(scripted.Call("echo", `{"text":"a"}`), last), o, careful)
		ctx := as(t.Context(), "alice", "s1")
		id := turn(t, s, ctx, "Go")[0].RunID
		synctest.Wait()
		kept.mend()
		_, again, err := s.Decide(ctx, requests(t, s, ctx)[0].ID, store.Decision{Status: store.RequestAccepted})
		if err != nil || again == nil {
			t.Fatal(again, err)
		}
		synctest.Wait()
		recovers(t, s)
		close(goOn)
		if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
			t.Errorf("%q", got)
		}
		if r, err := kept.Run(ctx, id); err != nil || r.Status != store.RunCompleted {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// TestAClaimWhoseAnswerIsLost: no run is left to a process that does not execute it,
// although the process cannot reach the store for a while.
func TestAClaimWhoseAnswerIsLost(t *testing.T) {
	for name, claim := range map[string]func(*chat.Service, context.Context, string) error{
		"resume": func(s *chat.Service, ctx context.Context, id string) error {
			_, err := s.Resume(ctx, id)
			return err
		},
		"stop": func(s *chat.Service, ctx context.Context, id string) error {
			_, err := s.Stop(ctx, id)
			return err
		},
		"delete": func(s *chat.Service, ctx context.Context, id string) error { return s.Delete(ctx, id) },
	} {
		t.Run(name, func(t *testing.T) {
			kept := &unsure{Store: newStore(t)}
			s, ctx, request := paused(t, kept, scripted.Text("Done."))
			r, err := s.Request(ctx, request)
			if err != nil {
				t.Fatal(err)
			}
			if name == "resume" {
				if _, err := kept.Decide(ctx, request, store.Decision{Status: store.RequestAccepted}); err != nil {
					t.Fatal(err)
				}
			}
			kept.breaks("claim")
			if err := claim(s, ctx, r.RunID); !errors.Is(err, errOutage) {
				t.Errorf("%v", err)
			}
			kept.mend()
			recovers(t, s)
			if now, err := kept.Run(ctx, r.RunID); err != nil || now.Status != store.RunWaiting {
				t.Errorf("%+v %v", now, err)
			}
			if err := claim(s, ctx, r.RunID); err != nil {
				t.Error(err)
			}
			if err := s.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestABeginningWhoseAnswerIsLost: the request fails. Its run is interrupted, and goes on
// when the request is sent again.
func TestABeginningWhoseAnswerIsLost(t *testing.T) {
	for name, lost := range map[string]error{"the connection breaks": errOutage, "the client leaves": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			kept := &unsure{Store: newStore(t), at: "begin"}
			ctx, leave := context.WithCancel(as(t.Context(), "alice", "s1"))
			kept.lose = func() error {
				if lost == context.Canceled {
					leave()
					kept.down = false
				}
				return lost
			}
			o := chat.Options{Patience: time.Millisecond, Store: kept, Logger: slog.New(slog.DiscardHandler), Attempts: 3}
			s := newService(t, scripted.New(scripted.Text("Yes.")), o, helper)
			ask := chat.Request{Input: "Hi", Key: "k", KeyHash: "h"}
			if _, err := s.Start(ctx, ask); !errors.Is(err, lost) {
				t.Errorf("%v", err)
			}
			kept.mend()
			leave()
			ctx = as(t.Context(), "alice", "s1")
			recovers(t, s)
			again, err := s.Start(ctx, ask)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.ResumeInterrupted(identity.With(t.Context(), identity.Identity{}), kept.Maintenance()); err != nil {
				t.Error(err)
			}
			if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
				t.Errorf("%q", got)
			}
		})
	}
}

// held starts a turn whose model calls a tool once goOn is closed.
func held(t *testing.T, kept *unsure, goOn <-chan struct{}) (*chat.Service, *scripted.Model, context.Context, *chat.Turn) {
	t.Helper()
	slow := scripted.Call("echo", `{"text":"a"}`)
	slow.Before = scripted.Until(0, goOn)
	model := scripted.New(slow, scripted.Text("Oui."))
	s := newService(t, model, chat.Options{Store: kept, Logger: slog.New(slog.DiscardHandler)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	return s, model, ctx, first
}

// TestASteeringMessageWhoseAnswerIsLost: the run reads the message, as it is stored.
func TestASteeringMessageWhoseAnswerIsLost(t *testing.T) {
	kept, goOn := &unsure{Store: newStore(t)}, make(chan struct{})
	kept.lose = func() error {
		kept.down = false
		return errOutage
	}
	s, model, ctx, first := held(t, kept, goOn)
	kept.breaks("steer")
	if _, err := s.Start(ctx, chat.Request{Input: "In French", Busy: chat.BusySteer}); err != nil {
		t.Error(err)
	}
	close(goOn)
	drain(t, first)
	if requests := model.Requests(); told(requests[len(requests)-1], "In French") != 1 {
		t.Errorf("%s", conversation(requests[len(requests)-1]))
	}
}

// TestAKeyedMessageWhoseReplyIsLost: the store's reply is lost, and it cannot be asked
// whether it has the message. The request that is repeated with its key tells the model,
// once.
func TestAKeyedMessageWhoseReplyIsLost(t *testing.T) {
	kept, goOn := &unsure{Store: newStore(t)}, make(chan struct{})
	s, model, ctx, first := held(t, kept, goOn)
	kept.breaks("steer")
	ask := chat.Request{Input: "In French", Busy: chat.BusySteer, Key: "k", KeyHash: "h"}
	if _, err := s.Start(ctx, ask); !errors.Is(err, errOutage) {
		t.Fatal(err)
	}
	kept.mend()
	for range 2 {
		if again, err := s.Start(ctx, ask); err != nil || again.RunID != first.RunID {
			t.Fatal(again, err)
		}
	}
	close(goOn)
	drain(t, first)
	if requests := model.Requests(); told(requests[len(requests)-1], "In French") != 1 {
		t.Errorf("%s", conversation(requests[len(requests)-1]))
	}
}

// TestWordsWithResultsWhoseReplyIsLost: the model reads them once when they are sent again
// with their key.
func TestWordsWithResultsWhoseReplyIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := llm.ToolSpec{Name: "ring", Description: "Rings.", Parameters: []byte(`{"type":"object"}`)}
		kept := &unsure{Store: newStore(t)}
		model := scripted.New(scripted.Call("ring", `{}`), scripted.Text("It rang."))
		s := newService(t, model, chat.Options{Store: kept, Logger: slog.New(slog.DiscardHandler)}, helper)
		ctx := as(t.Context(), "alice", "s1")
		first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{spec}})
		if err != nil {
			t.Fatal(err)
		}
		call := find[*event.ToolCallData](t, drain(t, first))
		synctest.Wait()
		kept.breaks("steer")
		ask := chat.Request{Input: "Hurry", Key: "k", KeyHash: "h", Busy: chat.BusySteer, Results: []chat.ToolResult{{ToolCallID: call.ID, Content: "ding"}}}
		if _, err := s.Start(ctx, ask); !errors.Is(err, errOutage) {
			t.Fatal(err)
		}
		kept.mend()
		recovers(t, s)
		second, err := s.Start(ctx, ask)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, second)
		if last := model.Requests()[1]; told(last, "Hurry") != 1 {
			t.Errorf("%s", conversation(last))
		}
		if rows := transcript(t, kept, ctx, "s1"); len(rows) != 5 {
			t.Errorf("%q", rows)
		}
	})
}
