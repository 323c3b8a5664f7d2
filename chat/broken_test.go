package chat_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// broken is a store that fails at one operation.
type broken struct {
	*store.Store
	at string
}

func (b *broken) fail(op string) error {
	if b.at == op {
		return &store.Failure{Op: op, Err: errors.New("disk I/O error: /var/lib/p8")}
	}
	return nil
}

func (b *broken) Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error) {
	if err := b.fail("session"); err != nil {
		return store.Recalled{}, err
	}
	return b.Store.Recall(ctx, q)
}

func (b *broken) BeginRun(ctx context.Context, r store.RunStart) error {
	if err := b.fail("begin"); err != nil {
		return err
	}
	return b.Store.BeginRun(ctx, r)
}

func (b *broken) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	if len(w.Messages) > 0 {
		if err := b.fail("append"); err != nil {
			return false, err
		}
	}
	if w.Answer != nil {
		if err := b.fail("finish"); err != nil {
			return false, err
		}
	}
	return b.Store.WriteRun(ctx, w)
}

func TestAStoreThatFails(t *testing.T) {
	var log strings.Builder
	service := func(at string) *chat.Service {
		model := scripted.New(scripted.Call("echo", `{"text":"a"}`), scripted.Text("Done."))
		return newService(t, model, chat.Options{
			Store: &broken{Store: newStore(t), at: at}, Patience: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil)),
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
		"progress 1/3 Processing request", "tool_call echo started", "progress 2/3 Calling echo",
		"metadata", "usage", "error storage_failed", "done error",
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
	*store.Store
	leave context.CancelFunc
}

func (h *hasty) BeginRun(ctx context.Context, r store.RunStart) error {
	defer h.leave()
	return h.Store.BeginRun(ctx, r)
}

func (h *hasty) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return h.Store.WriteRun(ctx, w)
}

func TestAHistoryIsStoredWholeOrNot(t *testing.T) {
	ctx, leave := context.WithCancel(as(t.Context(), "alice", "s1"))
	kept := &hasty{Store: newStore(t), leave: leave}
	s := newService(t, scripted.New(scripted.Text("Yes.")), chat.Options{Store: kept}, helper)
	started, err := s.Start(ctx, chat.Request{Input: "Now", History: []llm.Message{
		{Role: llm.User, Content: "Before"}, {Role: llm.Assistant, Content: "Then"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, started)
	rows := transcript(t, kept.Store, as(t.Context(), "alice", "s1"), "s1")
	if diff := cmp.Diff([]string{"1 user Before", "2 assistant Then", "3 user Now", "4 assistant Yes."}, rows); diff != "" {
		t.Error(diff)
	}
}
