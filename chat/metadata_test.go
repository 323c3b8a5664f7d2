package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// meanwhile is a store whose session somebody else changes after it was recalled.
type meanwhile struct {
	*store.Store
	change *store.Session
}

func (m *meanwhile) Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error) {
	rec, err := m.Store.Recall(ctx, q)
	if change := m.change; err == nil && change != nil {
		m.change = nil
		err = m.PutSession(ctx, *change)
	}
	return rec, err
}

// A turn writes what was said about its session with it, and nothing that it only read:
// somebody may have changed that.
func TestATurnKeepsWhatOthersNote(t *testing.T) {
	kept := &meanwhile{Store: embedded(t)}
	s := newService(t, scripted.New(scripted.Text("one"), scripted.Text("two")), chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	say := func(name string, metadata map[string]any) {
		t.Helper()
		started, err := s.Start(ctx, chat.Request{Input: "x", SessionName: name, SessionMetadata: metadata})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, started)
	}
	say("first", map[string]any{"plan": "free", "uploads": []string{"a"}})
	kept.change = &store.Session{ID: "s1", Name: "second", Named: true, Metadata: json.RawMessage(`{"uploads":["a","b"]}`)}
	say("", map[string]any{"plan": "paid"})
	sess, err := kept.Session(ctx, "s1")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(sess.Metadata, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"plan": "paid", "uploads": []any{"a", "b"}}, got); diff != "" || sess.Name != "second" {
		t.Errorf("%s: %s", sess.Name, diff)
	}
}

// What p8 notes of uploads is not the client's to keep small.
func TestMetadataBesideManyUploads(t *testing.T) {
	kept := embedded(t)
	s := newService(t, scripted.New(scripted.Text("one"), scripted.Text("two")), chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	turn(t, s, ctx, "x")
	var uploads []map[string]any
	for i := range 50 {
		uploads = append(uploads, map[string]any{"moment_name": fmt.Sprint(i), "file_name": strings.Repeat("x", 400)})
	}
	metadata, err := json.Marshal(map[string]any{"uploads": uploads})
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.PutSession(ctx, store.Session{ID: "s1", Metadata: metadata}); err != nil {
		t.Fatal(err)
	}
	started, err := s.Start(ctx, chat.Request{Input: "y", SessionMetadata: map[string]any{"plan": "free"}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, started)
}

// What a model wrote to think is in no later history, so it counts for nothing there.
func TestThoughtsAreNoPartOfTheAnswersTokens(t *testing.T) {
	for _, tc := range []struct {
		usage llm.Usage
		want  int
	}{
		{llm.Usage{Input: 100, Output: 12}, 12},
		{llm.Usage{Input: 100, Output: 5012, Reasoning: 5000}, 12},
		{llm.Usage{Input: 100, Output: 5000, Reasoning: 5000}, llm.EstimateTokens("Hello, world.")},
	} {
		kept := newStore(t)
		s := newService(t, scripted.New(scripted.Turn{Text: []string{"Hello, world."}, Usage: tc.usage}), chat.Options{Store: kept}, helper)
		ctx := as(t.Context(), "alice", "s1")
		turn(t, s, ctx, "x")
		list, err := kept.Messages(ctx, "s1", store.MessageFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if got := list[len(list)-1].TokenCount; got != tc.want {
			t.Errorf("%+v: %d tokens", tc.usage, got)
		}
	}
}
