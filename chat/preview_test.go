package chat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// A preview is what the next turn sends, less the message that it brings.
func TestPreviewIsWhatTheNextTurnSends(t *testing.T) {
	for _, doc := range []string{helper, "name: helper\ntype: object\ndescription: D.\njson_schema_extra: {tools: [{name: echo}], history: {tools: replay}}\n"} {
		model := scripted.New(
			scripted.Call("echo", `{"text":"a"}`), scripted.Text("one"),
			scripted.Text(strings.Repeat("long ", 200)), scripted.Text("three"), scripted.Text("four"))
		kept := newStore(t)
		s := newService(t, model, chat.Options{Store: kept, Now: noon, KeepLast: 1}, doc)
		ctx := as(t.Context(), "alice", "s1")
		for _, text := range []string{"first", "second", "third"} {
			turn(t, s, ctx, text)
		}
		p, err := s.Preview(as(t.Context(), "alice", ""), "s1", "")
		if err != nil {
			t.Fatal(err)
		}
		turn(t, s, ctx, "fourth")
		requests := model.Requests()
		sent := requests[len(requests)-1].Messages
		if diff := cmp.Diff(sent[:len(sent)-1], p.Messages); diff != "" {
			t.Error(diff)
		}
		tokens, history := 0, 0
		var kinds []string
		for _, part := range p.Parts {
			tokens += part.Tokens
			kinds = append(kinds, part.Kind)
			switch part.Kind {
			case chat.PreviewPrompt, chat.PreviewInstructions, chat.PreviewTools:
			default:
				history += part.Tokens
			}
		}
		if tokens != p.Tokens || history != p.HistoryTokens || p.Budget != 8000 || p.Agent != "helper" || p.Model != "scripted:test" {
			t.Errorf("%d tokens, %d of the history: %+v", tokens, history, p)
		}
		t.Log(kinds)
		if _, err := s.Preview(as(t.Context(), "bob", ""), "s1", ""); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("somebody else's session: %v", err)
		}
		if _, err := s.Preview(as(t.Context(), "alice", ""), "none", ""); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("no session: %v", err)
		}
	}
}

// What the prompt, the message and the answer take of a small window is not the
// history's.
func TestWindow(t *testing.T) {
	var turns []scripted.Turn
	for i := range 30 {
		turns = append(turns, scripted.Text(fmt.Sprintf("answer %d %s", i, strings.Repeat("x", 300))))
	}
	model := scripted.New(turns...)
	s := newService(t, model, chat.Options{
		Store: newStore(t), Window: func(string) (int, int) { return 2000, 500 },
		Defaults: llm.Settings{MaxTokens: 400},
	}, helper)
	ctx := as(t.Context(), "alice", "s1")
	for range turns {
		turn(t, s, ctx, strings.Repeat("question ", 20))
	}
	requests := model.Requests()
	n := 0
	for _, m := range requests[len(requests)-1].Messages {
		n += llm.EstimateTokens(m.Content) + store.MessageTokens
	}
	if n > 2000-400 || n < 1000 {
		t.Errorf("the last request has %d tokens", n)
	}
}

// A session that a named user may read because it is nobody's is not one that she goes
// on with: there is nothing to preview.
func TestPreviewOfNobodysSession(t *testing.T) {
	s := newService(t, scripted.New(scripted.Text("one")), chat.Options{Store: embedded(t)}, helper)
	nobody := as(t.Context(), "", "s1")
	turn(t, s, nobody, "first")
	if p, err := s.Preview(nobody, "s1", ""); err != nil || p.HistoryTokens == 0 {
		t.Errorf("its own: %+v, %v", p, err)
	}
	if _, err := s.Preview(as(t.Context(), "alice", ""), "s1", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a named user: %v", err)
	}
}
