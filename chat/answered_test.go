package chat_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
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

// elsewhere is a store with which something happens between an answer and the resumption
// of its run.
type elsewhere struct {
	*store.Store
	decided func()
	// claim is called in place of the next ClaimRun; nil for none.
	claim func(process string) (store.Run, error)
}

func (e *elsewhere) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error) {
	r, err := e.Store.Decide(ctx, id, d)
	if err == nil {
		e.decided()
	}
	return r, err
}

func (e *elsewhere) ClaimRun(ctx context.Context, id, process string, allowed store.RunsAllowed) (store.Run, error) {
	if claim := e.claim; claim != nil {
		e.claim = nil
		return claim(process)
	}
	return e.Store.ClaimRun(ctx, id, process, allowed)
}

// TestResultsForAnInterruptedRun: the results reach the run, although it was interrupted
// while the session was busy.
func TestResultsForAnInterruptedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &elsewhere{Store: newStore(t)}
		s, model, ctx, first, asked := asksBoth(t, kept)
		synctest.Wait()
		kept.decided = func() {
			if _, err := kept.Store.ClaimRun(ctx, first.RunID, "other", store.RunsAllowed{}); err != nil {
				t.Error(err)
			}
			if _, err := kept.WriteRun(ctx, store.RunWrite{RunID: first.RunID, Process: "other", Status: store.RunInterrupted}); err != nil {
				t.Error(err)
			}
			kept.claim = func(string) (store.Run, error) {
				time.Sleep(time.Second) // the request comes meanwhile
				return store.Run{}, store.ErrRunTaken
			}
			go func() {
				if _, err := s.Resume(ctx, first.RunID); !errors.Is(err, chat.ErrNotResumable) {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		answersBoth(t, s, model, ctx, asked)
	})
}

// TestAnAnswerToARunThatResumesItself: the request that gave the answer reads everything
// that follows it, although it does not resume the run itself.
func TestAnAnswerToARunThatResumesItself(t *testing.T) {
	for name, over := range map[string]bool{"over": true, "about to begin": false} {
		t.Run(name, alone(func(t *testing.T) {
			kept := &elsewhere{Store: newStore(t)}
			model := scripted.New(scripted.Call("echo", `{"text":"a"}`), scripted.Text("Done."))
			s := newService(t, model, chat.Options{Store: kept}, careful)
			ctx := as(t.Context(), "alice", "s1")
			first, err := s.Start(ctx, chat.Request{Input: "Go"})
			if err != nil {
				t.Fatal(err)
			}
			asked := find[*event.ActionRequestData](t, drain(t, first))
			synctest.Wait()
			kept.decided = func() {
				if !over {
					kept.claim = func(process string) (store.Run, error) {
						time.Sleep(time.Second) // the request comes meanwhile
						return kept.Store.ClaimRun(ctx, first.RunID, process, store.RunsAllowed{})
					}
				}
				go func() {
					if _, err := s.Resume(ctx, first.RunID); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
			}
			again, err := s.Start(ctx, chat.Request{
				Answers: []chat.RequestAnswer{{RequestID: asked.RequestID, Decision: store.Decision{Status: store.RequestAccepted}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			news := slices.DeleteFunc(drain(t, again), func(e event.Event) bool { return e.Seq <= again.Past })
			got := story(news)
			if len(got) == 0 || got[0] != "progress 1/3 Continuing" || !slices.Contains(got, "text Done.") || got[len(got)-1] != "done stop" {
				t.Errorf("%q", got)
			}
			model.AssertDone(t)
		}))
	}
}
