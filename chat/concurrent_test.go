package chat_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestManySessions runs turns with several readers each, some of which stop the
// run, for the race detector; every turn ends with Done and leaves an answer.
func TestManySessions(t *testing.T) {
	model := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Turn{Text: []string{"a", "b", "c"}, Usage: llm.Usage{Input: 1}})
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	const sessions, turns, readers = 8, 20, 3
	var wait sync.WaitGroup
	for i := range sessions {
		session := fmt.Sprintf("s%d", i)
		ctx := as(t.Context(), "alice", session)
		wait.Go(func() {
			for n := range turns {
				started, err := s.Start(ctx, chat.Request{Input: "Hi"})
				if err != nil {
					t.Error(err)
					return
				}
				var group sync.WaitGroup
				for r := range readers {
					group.Go(func() {
						var last event.Type
						for e := range started.Events(ctx) {
							if last = e.Type; e.Type == event.Text && r == 0 && n%2 == 0 {
								started.Cancel()
							}
						}
						if last != event.Done {
							t.Errorf("the last event is %s", last)
						}
					})
				}
				group.Wait()
			}
		})
	}
	wait.Wait()
	for i := range sessions {
		rows, err := kept.Messages(as(t.Context(), "alice", fmt.Sprintf("s%d", i)), fmt.Sprintf("s%d", i), store.MessageFilter{})
		if err != nil || len(rows) != 2*turns {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
