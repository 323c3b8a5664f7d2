package chat_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// deaf is a store whose reply to the next answer is lost.
type deaf struct {
	*store.Store
	lose bool
}

func (d *deaf) Decide(ctx context.Context, id string, decision store.Decision) (store.RunRequest, error) {
	r, err := d.Store.Decide(ctx, id, decision)
	if err == nil && d.lose {
		d.lose = false
		return store.RunRequest{}, errOutage
	}
	return r, err
}

// TestAnAnswerWhoseReplyIsLost: the answer that is sent again is refused, and resumes the
// run.
func TestAnAnswerWhoseReplyIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx, request := paused(t, &deaf{Store: newStore(t), lose: true}, scripted.Text("Done."))
		yes := store.Decision{Status: store.RequestAccepted}
		if _, _, err := s.Decide(ctx, request, yes); !errors.Is(err, errOutage) {
			t.Fatal(err)
		}
		r, again, err := s.Decide(ctx, request, yes)
		if !errors.Is(err, store.ErrDecided) || again != nil {
			t.Fatal(again, err)
		}
		synctest.Wait()
		if _, r, err := s.Open(ctx, r.RunID); err != nil || r.Status != store.RunCompleted {
			t.Errorf("%+v %v", r, err)
		}
		if _, _, err := s.Decide(ctx, request, yes); !errors.Is(err, store.ErrDecided) {
			t.Error(err)
		}
	})
}

// elsewhere is a store with which, after an answer, another process resumes the run and is
// stopped, and a claim of this process is under way until the run is looked at.
type elsewhere struct {
	*store.Store
	decided func()
	claims  chan struct{}
	looked  func()
}

func (e *elsewhere) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error) {
	r, err := e.Store.Decide(ctx, id, d)
	if err == nil {
		e.decided()
	}
	return r, err
}

func (e *elsewhere) ClaimRun(ctx context.Context, id, process string) (store.Run, error) {
	if claims := e.claims; claims != nil {
		e.claims = nil
		<-claims
		return store.Run{}, store.ErrRunTaken
	}
	return e.Store.ClaimRun(ctx, id, process)
}

func (e *elsewhere) Run(ctx context.Context, id string) (store.Run, error) {
	r, err := e.Store.Run(ctx, id)
	if e.looked != nil && r.Status == store.RunInterrupted {
		e.looked()
	}
	return r, err
}

// TestResultsForAnInterruptedRun: the results reach the run, although it was interrupted
// while the session was busy.
func TestResultsForAnInterruptedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &elsewhere{Store: newStore(t)}
		s, model, ctx, first, asked := asksBoth(t, kept)
		synctest.Wait()
		kept.decided = func() {
			if _, err := kept.Store.ClaimRun(ctx, first.RunID, "other"); err != nil {
				t.Error(err)
			}
			if _, err := kept.WriteRun(ctx, store.RunWrite{RunID: first.RunID, Process: "other", Status: store.RunInterrupted}); err != nil {
				t.Error(err)
			}
			claims := make(chan struct{})
			kept.claims = claims
			go func() {
				if _, err := s.Resume(ctx, first.RunID); !errors.Is(err, chat.ErrNotResumable) {
					t.Error(err)
				}
			}()
			synctest.Wait()
			looks := 0
			kept.looked = func() {
				if looks++; looks == 2 { // first by goOn, then by goOnWith
					close(claims)
				}
			}
		}
		answersBoth(t, s, model, ctx, asked)
	})
}
