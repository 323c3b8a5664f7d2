package chat_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool/builtin"
)

// TestEndedTellsOfSessionsWithoutATitle: Options.Ended learns which answer is the first of a
// session without a title.
func TestEndedTellsOfSessionsWithoutATitle(t *testing.T) {
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		client string
		model  *scripted.Model
		want   []bool
	}{
		{"answers", "", scripted.New(scripted.Text("One."), scripted.Text("Two.")), []bool{true, false}},
		{"a failure first", "", scripted.New(scripted.Fail(errors.New("down")), scripted.Text("One.")), []bool{false, true}},
		{"the client's title", "Mine", scripted.New(scripted.Text("One."), scripted.Text("Two.")), []bool{false, false}},
		{"the agent's title", "", scripted.New(
			scripted.Call("action", `{"type":"observation","payload":{"session_name":"Its"}}`), scripted.Text("One."), scripted.Text("Two."),
		), []bool{false, false}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []bool
			s := newService(t, tc.model, chat.Options{
				Store: newStore(t), Tools: registry(t, action), Ended: func(_ context.Context, e chat.Ended) { got = append(got, e.Untitled) },
			}, "name: helper\ndescription: D.\ntools: [{name: action}]\n")
			for _, input := range []string{"first", "second"} {
				started, err := s.Start(as(t.Context(), "alice", "s1"), chat.Request{Input: input, SessionName: tc.client})
				if err != nil {
					t.Fatal(err)
				}
				for range started.Events(t.Context()) {
				}
			}
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// A turn that waits for the user has no answer yet; it has one when it goes on.
func TestUntitledAfterAPause(t *testing.T) {
	ended := make(chan bool, 3)
	s := newService(t, scripted.New(scripted.Call("echo", `{"text":"a"}`), scripted.Text("One."), scripted.Text("Two.")), chat.Options{
		Store: newStore(t), Tools: registry(t, newEcho(t)), Ended: func(_ context.Context, e chat.Ended) { ended <- e.Untitled },
	}, "name: helper\ndescription: D.\ntools: [{name: echo, approval: always}]\n")
	ctx := as(t.Context(), "alice", "s1")
	turn(t, s, ctx, "first")
	if <-ended {
		t.Error("there is no answer yet")
	}
	_, again, err := s.Decide(ctx, requests(t, s, ctx)[0].ID, store.Decision{Status: store.RequestAccepted})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, again)
	if !<-ended {
		t.Error("the answer after the pause is the first one")
	}
	turn(t, s, ctx, "second")
	if <-ended {
		t.Error("the second answer is no first one")
	}
}
