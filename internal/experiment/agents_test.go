package experiment

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/experiment/dataset"
	"github.com/p8-org/p8/store"
)

// turns plays one list of events for each turn; the error begins no turn.
type turns struct {
	plays   [][]event.Event
	fails   error
	asked   []chat.Request
	callers []identity.Identity
	resumed []string
	stopped []string
}

func (f *turns) play() *chat.Turn {
	events := f.plays[0]
	f.plays = f.plays[1:]
	t := chat.NewTurn(func(context.Context, int64) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	})
	t.RunID = "run"
	return t
}

func (f *turns) Start(ctx context.Context, req chat.Request) (*chat.Turn, error) {
	by, err := identity.From(ctx)
	f.asked, f.callers = append(f.asked, req), append(f.callers, by)
	if err = errors.Join(err, f.fails); err != nil {
		return nil, err
	}
	return f.play(), nil
}

func (f *turns) Resume(_ context.Context, id string) (*chat.Turn, error) {
	f.resumed = append(f.resumed, id)
	return f.play(), nil
}

func (f *turns) Stop(_ context.Context, id string) (store.Run, error) {
	f.stopped = append(f.stopped, id)
	return store.Run{}, nil
}

func done(reason string, before ...event.Event) []event.Event {
	list := append([]event.Event{}, before...)
	for i := range list {
		list[i].Agent = "a"
	}
	return append(list, event.Event{Type: event.Done, Agent: "a", Data: &event.DoneData{Reason: reason}})
}

func failure(code string, recoverable bool) []event.Event {
	return done(event.ReasonError, event.New(&event.ErrorData{Code: code, Message: "it failed", Recoverable: recoverable}))
}

// TestRounds: after a round that failed, the attempts go on.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &turns{plays: [][]event.Event{failure("x", true), done(event.ReasonStop)}}
		a := Agents{Turns: f, Evaluation: "e"}
		if _, err := a.Answer(identity.With(t.Context(), identity.Identity{TenantID: "acme"}), Task{Seq: 7, Round: 2}); err != nil {
			t.Fatal(err)
		}
		if got := f.asked[0].Key + ", " + f.asked[1].Key; got != "evaluation e 7 7, evaluation e 7 8" {
			t.Error(got)
		}
	})
}

func TestAgents(t *testing.T) {
	document, err := agent.Parse("a", []byte("name: a\nversion: 1.0.0\ndescription: x"))
	if err != nil {
		t.Fatal(err)
	}
	said := done(event.ReasonStop,
		event.New(&event.ToolCallData{Name: "search", ID: "1", Status: event.ToolStarted}),
		event.New(&event.ToolCallData{Name: "search", ID: "1", Status: event.ToolCompleted, Result: []byte(`1`)}), event.NewText("hello"))
	for name, c := range map[string]struct {
		plays    [][]event.Event
		fails    error
		text     string
		failed   string
		attempts int
		took     time.Duration
		resumed  int
		stopped  int
		err      bool
	}{
		"an answer":              {plays: [][]event.Event{said}, text: "hello", attempts: 1},
		"cut once":               {plays: [][]event.Event{failure("provider_unavailable", true), said}, text: "hello", attempts: 2, took: time.Second},
		"cut for ever":           {plays: [][]event.Event{failure("x", true), failure("x", true), failure("x", true)}, failed: "it failed", attempts: 3, took: 5 * time.Second},
		"refused for good":       {plays: [][]event.Event{failure("authentication_error", false)}, failed: "it failed", attempts: 1},
		"of a dead process":      {plays: [][]event.Event{failure("interrupted", true), said}, text: "hello", attempts: 1, resumed: 1},
		"a question to the user": {plays: [][]event.Event{done(event.ReasonPaused)}, failed: "the run waits for an answer of the user, whom an evaluation does not have", attempts: 1, stopped: 1},
		"no such agent":          {fails: &catalog.NotFoundError{Name: "a"}, attempts: 1, err: true},
		"too many runs":          {fails: chat.ErrOverloaded, failed: "the server is answering as many requests as it can; try again in a moment", attempts: 3, took: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				f := &turns{plays: c.plays, fails: c.fails}
				a := Agents{Turns: f, Evaluation: "e", Documents: map[string]*agent.Document{"a@1.0.0": document}}
				ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "u"})
				o, err := a.Answer(ctx, Task{Seq: 7, Case: dataset.Case{ID: "c", Input: "hi"}, Agent: Ref{Name: "a", Version: "1.0.0", Pinned: true}, Model: "m"})
				if (err != nil) != c.err || o.Text != c.text || o.Error != c.failed || len(f.asked) != c.attempts || len(f.resumed) != c.resumed || len(f.stopped) != c.stopped {
					t.Fatalf("%+v %v, %d attempts, %d resumed, %d stopped", o, err, len(f.asked), len(f.resumed), len(f.stopped))
				}
				if took := time.Since(begun); took != c.took {
					t.Errorf("it took %s", took)
				}
				var keys []string
				for i, req := range f.asked {
					by := f.callers[i]
					_, wrong := uuid.Parse(by.SessionID)
					if req.Document != document || req.Model != "m" || req.SessionMode != store.ModeEvaluation || !by.IsEval || by.TenantID != "acme" || by.UserID != "u" || wrong != nil {
						t.Errorf("%+v %+v", req, by)
					}
					if slices.Contains(keys, req.Key) || !strings.HasPrefix(req.Key, "evaluation e 7 ") {
						t.Errorf("the key %s", req.Key)
					}
					keys = append(keys, req.Key)
				}
				if c.text != "" && (len(o.Calls) != 1 || o.Calls[0].Name != "search" || o.Calls[0].Agent != "a") {
					t.Errorf("%+v", o.Calls)
				}
			})
		})
	}
}
