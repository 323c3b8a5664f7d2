package chat_test

import (
	"context"
	"testing"

	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// eager is a store whose run is resumed as soon as its request has an answer, before the
// caller of Decide can do it.
type eager struct {
	*store.Store
	after func()
}

func (h *eager) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error) {
	r, err := h.Store.Decide(ctx, id, d)
	h.after()
	return r, err
}

// Decide returns the turn of the run even if another caller resumed it first.
func TestAnAnswerThatSomebodyElseGoesOnWith(t *testing.T) {
	kept, goOn := &eager{Store: newStore(t)}, make(chan struct{})
	slow := scripted.Text("Done.")
	slow.Before = scripted.Until(0, goOn)
	s, ctx, request := paused(t, kept, slow)
	r, err := s.Request(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	kept.after = func() {
		if _, err := s.Resume(ctx, r.RunID); err != nil {
			t.Error(err)
		}
	}
	_, again, err := s.Decide(ctx, request, store.Decision{Status: store.RequestAccepted})
	close(goOn)
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
		t.Errorf("%q", got)
	}
}
