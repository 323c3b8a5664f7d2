package chat_test

import (
	"context"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

type nothing struct{}

// A call that acts is stored before it is made; one that only reads may be stored with
// its result, and is shown while it takes its time.
func TestWhenCallsAreStored(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reads bool
	}{{"acts", false}, {"reads", true}} {
		t.Run(tc.name, func(t *testing.T) {
			kept := &writes{Store: newStore(t)}
			shown, before := make(chan struct{}), 0
			look, err := tool.New("look", "D.", func(ctx context.Context, _ nothing) (any, error) {
				rows, err := kept.Messages(as(ctx, "alice", "s1"), "s1", store.MessageFilter{Types: []string{store.MessageToolCall}})
				before = len(rows)
				if tc.reads {
					select {
					case <-shown:
					case <-ctx.Done():
					}
				}
				return "seen", err
			})
			if err == nil {
				look, err = tool.Annotate(look, tool.Annotations{ReadOnly: tc.reads})
			}
			if err != nil {
				t.Fatal(err)
			}
			model := scripted.New(scripted.Call("look", `{}`), scripted.Text("Done."))
			s := newService(t, model, chat.Options{Store: kept, Tools: registry(t, look)},
				"name: helper\ndescription: D.\ntools: [{name: look}]\n")
			started, err := s.Start(as(t.Context(), "alice", "s1"), chat.Request{Input: "Hi"})
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range started.Events(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if d, ok := e.Data.(*event.ToolCallData); ok && d.Status == event.ToolExecuting {
					close(shown)
				}
			}
			if !tc.reads && before != 1 {
				t.Errorf("the call had %d rows when it was made", before)
			}
		})
	}
}
