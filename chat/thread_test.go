package chat_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestStrangeIDsOfCalls: an agent that was asked by a call goes on after a pause, whatever
// id the model gave the call.
func TestStrangeIDsOfCalls(t *testing.T) {
	documents := []string{
		flatNamed("boss", ""),
		strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1),
	}
	for name, id := range map[string]string{
		"a NUL": "a\x00b", "no UTF-8": "a\xffb", "long": strings.Repeat("a", 2000), "slashes": strings.Repeat("/", 100),
	} {
		t.Run(name, alone(func(t *testing.T) {
			ask := askCall("worker", "Hi", "")
			ask.ID = id
			models := cast{
				"boss": scripted.New(scripted.Turn{Calls: []llm.ToolCall{ask}}, scripted.Text("So.")),
				"worker": scripted.New(
					scripted.Turn{Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}}, scripted.Text("Found.")),
			}
			s := stage(t, chat.Options{Store: newStore(t)}, models, documents)
			ctx := as(t.Context(), "alice", "s1")
			asked := find[*event.ActionRequestData](t, turn(t, s, ctx, "Go"))
			synctest.Wait() // until the pause is stored
			_, again, err := s.Decide(ctx, asked.RequestID, store.Decision{Status: store.RequestAccepted})
			if err != nil || again == nil {
				t.Fatal(again, err)
			}
			if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
				t.Errorf("%q", got)
			}
			models.done(t)
		}))
	}
}
