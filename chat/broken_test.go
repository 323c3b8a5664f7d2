package chat_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"p8/chat"
	"p8/event"
	"p8/llm"
	"p8/llm/scripted"
	"p8/store"
)

// broken is a store that fails at one operation.
type broken struct {
	chat.MemoryStore
	at string
}

func (b *broken) fail(op string) error {
	if b.at == op {
		return &store.Failure{Op: op, Err: errors.New("disk I/O error: /var/lib/p8")}
	}
	return nil
}

func (b *broken) Session(ctx context.Context, id string) (store.Session, error) {
	if err := b.fail("session"); err != nil {
		return store.Session{}, err
	}
	return b.MemoryStore.Session(ctx, id)
}

func (b *broken) BeginTurn(ctx context.Context, sess store.Session, rows ...*store.Message) error {
	if err := b.fail("begin"); err != nil {
		return err
	}
	return b.MemoryStore.BeginTurn(ctx, sess, rows...)
}

func (b *broken) Append(ctx context.Context, rows ...*store.Message) error {
	if err := b.fail("append"); err != nil {
		return err
	}
	return b.MemoryStore.Append(ctx, rows...)
}

func (b *broken) FinishTurn(ctx context.Context, m *store.Message, name string) error {
	if err := b.fail("finish"); err != nil {
		return err
	}
	return b.MemoryStore.FinishTurn(ctx, m, name)
}

func TestAStoreThatFails(t *testing.T) {
	var log strings.Builder
	service := func(at string) *chat.Service {
		model := scripted.New(scripted.Call("echo", `{"text":"a"}`), scripted.Text("Done."))
		return newService(t, model, chat.Options{
			Store: &broken{at: at}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}, helper)
	}
	ctx := as(t.Context(), "alice", "s1")
	for _, at := range []string{"session", "begin"} {
		s := service(at)
		_, err := s.Start(ctx, chat.Request{Input: "Hi"})
		if d := chat.Describe(err); d.Code != "storage_failed" || d.HTTPStatus != 500 || strings.Contains(d.Message, "var") || s.Running() != 0 {
			t.Errorf("%s: %v: %+v", at, err, d)
		}
	}
	events := turn(t, service("append"), ctx, "Hi")
	want := []string{
		"progress 1/3 Processing request", "tool_call echo started", "progress 2/3 Calling echo", "warning storage_failed",
		"tool_call echo executing", "tool_call echo completed", "progress 3/3 Generating response", "text Done.",
		"metadata", "usage", "done stop",
	}
	if diff := cmp.Diff(want, story(events)); diff != "" {
		t.Error(diff)
	}
	events = turn(t, service("finish"), ctx, "Hi")
	if got := story(events); got[len(got)-4] != "warning storage_failed" || got[len(got)-1] != "done stop" {
		t.Errorf("%q", got)
	}
	if m := find[*event.MetadataData](t, events); m.MessageID != "" {
		t.Error("the id of a row that is not there")
	}
	if !strings.Contains(log.String(), "disk I/O error") {
		t.Error("the log must say what went wrong")
	}
}

// hasty is a store whose caller leaves in the middle of it.
type hasty struct {
	chat.MemoryStore
	leave context.CancelFunc
}

func (h *hasty) BeginTurn(ctx context.Context, sess store.Session, rows ...*store.Message) error {
	defer h.leave()
	return h.MemoryStore.BeginTurn(ctx, sess, rows...)
}

func (h *hasty) Append(ctx context.Context, rows ...*store.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.MemoryStore.Append(ctx, rows...)
}

func TestAHistoryIsStoredWholeOrNot(t *testing.T) {
	ctx, leave := context.WithCancel(as(t.Context(), "alice", "s1"))
	kept := &hasty{leave: leave}
	s := newService(t, scripted.New(scripted.Text("Yes.")), chat.Options{Store: kept}, helper)
	started, err := s.Start(ctx, chat.Request{Input: "Now", History: []llm.Message{
		{Role: llm.User, Content: "Before"}, {Role: llm.Assistant, Content: "Then"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, started)
	rows := transcript(t, &kept.MemoryStore, as(t.Context(), "alice", "s1"), "s1")
	if diff := cmp.Diff([]string{"1 user Before", "2 assistant Then", "3 user Now", "4 assistant Yes."}, rows); diff != "" {
		t.Error(diff)
	}
}
