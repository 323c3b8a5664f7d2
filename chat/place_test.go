package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestEdit: a message that replaces an earlier one is answered as if nothing came after that
// one, and what came after it can be gone back to.
func TestEdit(t *testing.T) {
	kept := newStore(t)
	model := scripted.New(scripted.Text("One."), scripted.Text("Two."), scripted.Text("Three."), scripted.Text("Other."),
		scripted.Text("Once more."), scripted.Text("Follows."), scripted.Text("Added."))
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	ids := map[string]string{}
	say := func(text string, path ...string) {
		t.Helper()
		started, err := s.Start(ctx, chat.Request{Input: text, MessageID: "m-" + text[:1], Path: path})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, started)
		ids[text] = started.MessageID
	}
	want := func(rows, asked string) {
		t.Helper()
		if diff := cmp.Diff(rows, strings.Join(transcript(t, kept, ctx, "s1"), ", ")); diff != "" {
			t.Error(diff)
		}
		requests := model.Requests()
		var got []string
		for _, m := range requests[len(requests)-1].Messages {
			if m.Role == llm.User || m.Role == llm.Assistant {
				got = append(got, m.Content)
			}
		}
		if diff := cmp.Diff(asked, strings.Join(got, " ")); diff != "" {
			t.Error(diff)
		}
	}
	say("1")
	say("2")
	say("3")
	say("2, edited", "m-2", ids["1"], "m-1")
	want("1 user 1, 2 assistant One., 7 user 2, edited, 8 assistant Other.", "1 One. 2, edited")

	// The first answer is made again, by its id.
	again, err := s.Start(ctx, chat.Request{Regenerate: true, Path: []string{ids["1"]}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, again)
	want("1 user 1, 9 assistant Once more.", "1")

	// Back to the first branch: the session goes on there.
	if err := s.SwitchBranch(ctx, "s1", ids["3"]); err != nil {
		t.Fatal(err)
	}
	// A message that the session does not have follows the last one that it has: nothing is
	// hidden if that is the newest.
	say("4", "m-unknown", ids["3"])
	want("1 user 1, 2 assistant One., 3 user 2, 4 assistant Two., 5 user 3, 6 assistant Three., 10 user 4, 11 assistant Follows.", "1 One. 2 Two. 3 Three. 4")
	say("5", "m-unknown", ids["2"], "m-1")
	want("1 user 1, 2 assistant One., 3 user 2, 4 assistant Two., 12 user 5, 13 assistant Added.", "1 One. 2 Two. 5")

	for what, c := range map[string]struct {
		req  chat.Request
		want string
	}{
		"an answer cannot be edited": {chat.Request{Input: "x", Path: []string{ids["5"]}}, "only messages of the user"},
		"an edit cannot steer":       {chat.Request{Input: "x", Path: []string{"m-1"}, Busy: chat.BusySteer}, "cannot steer"},
	} {
		var wrong *chat.InputError
		if _, err := s.Start(ctx, c.req); !errors.As(err, &wrong) || !strings.Contains(wrong.Message, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, who := range []string{"bob", ""} {
		if err := s.SwitchBranch(as(t.Context(), who, ""), "s1", ids["1"]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %v", who, err)
		}
	}
}

// TestEditWhileARunWaits: its question is closed, and its text stays on its branch.
func TestEditWhileARunWaits(t *testing.T) {
	kept := newStore(t)
	ask := scripted.Turn{Text: []string{"Let me see."}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}}
	s := newService(t, scripted.New(ask, scripted.Text("Edited."), ask), chat.Options{Store: kept}, careful)
	ctx := as(t.Context(), "alice", "s1")
	closed := func(request string) {
		t.Helper()
		if r, err := s.Request(ctx, request); err != nil || r.Status != store.RequestCancelled {
			t.Errorf("%+v %v", r, err)
		}
	}
	first, err := s.Start(ctx, chat.Request{Input: "Go", MessageID: "m"})
	if err != nil {
		t.Fatal(err)
	}
	request := find[*event.ActionRequestData](t, drain(t, first)).RequestID
	// A refused edit ends nothing.
	var wrong *chat.InputError
	if _, err := s.Start(ctx, chat.Request{Input: "Stay", Path: []string{first.MessageID}}); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if r, err := s.Request(ctx, request); err != nil || r.Status != store.RequestOpen {
		t.Errorf("%+v %v", r, err)
	}
	edited, err := s.Start(ctx, chat.Request{Input: "Stay", MessageID: "m", Path: []string{"m"}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, edited)
	closed(request)
	if diff := cmp.Diff([]string{"5 user Stay", "6 assistant Edited."}, transcript(t, kept, ctx, "s1")); diff != "" {
		t.Error(diff)
	}

	// Going to another branch closes a question, too, but only if there is such a branch.
	request = find[*event.ActionRequestData](t, turn(t, s, ctx, "Again")).RequestID
	if err := s.SwitchBranch(ctx, "s1", "nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if r, err := s.Request(ctx, request); err != nil || r.Status != store.RequestOpen {
		t.Errorf("%+v %v", r, err)
	}
	if err := s.SwitchBranch(ctx, "s1", first.MessageID); err != nil {
		t.Fatal(err)
	}
	closed(request)
	if rows := transcript(t, kept, ctx, "s1"); len(rows) < 2 || rows[0] != "1 user Go" {
		t.Errorf("%q", rows)
	}
}
