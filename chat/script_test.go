package chat_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm/scripted"
)

// TestAScriptThatFails: the user hears what the script says of it, and so does the
// log.
func TestAScriptThatFails(t *testing.T) {
	fails := func(context.Context, string, map[string]string) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			_ = yield(event.NewText("As I"), nil) &&
				yield(event.New(&event.ErrorData{Code: "asked_for", Message: "this was asked for"}), nil) &&
				yield(event.New(&event.DoneData{Reason: event.ReasonError}), nil)
		}
	}
	var log bytes.Buffer
	s := newService(t, scripted.New(), chat.Options{
		Scripts: map[string]chat.Script{"helper": fails}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}, helper)
	events := turn(t, s, as(t.Context(), "alice", ""), "Go")
	if got := find[*event.ErrorData](t, events); got.Message != "this was asked for" {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(log.String(), `error="this was asked for"`) {
		t.Errorf("the log says %s", &log)
	}
}
