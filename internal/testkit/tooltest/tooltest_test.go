package tooltest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/tooltest"
	"github.com/p8-org/p8/tool"
)

func TestChild(t *testing.T) {
	child := &tooltest.Child{Name: "helper", Events: []event.Event{event.NewText("a"), event.NewText("b")}, Result: tool.Result{Content: "ab"}}
	var streamer tool.Streamer = tool.WithNote(child, "Ask it first.").(tool.Streamer)
	if got, want := streamer.Spec().Description, "A scripted child agent.\n\nAsk it first."; got != want {
		t.Errorf("description %q", got)
	}
	if err := tool.Validate(t.Context(), streamer, []byte(`{"anything":1}`)); err != nil {
		t.Error(err)
	}
	var heard string
	res, err := streamer.Stream(t.Context(), tool.Call{ID: "c1"}, func(e event.Event) bool { heard += e.Text; return true })
	if err != nil || res.Content != "ab" || heard != "ab" || len(child.Calls()) != 1 {
		t.Errorf("%+v, %v, %q", res, err, heard)
	}
	if _, err := child.Stream(t.Context(), tool.Call{}, func(event.Event) bool { return false }); !errors.Is(err, tooltest.ErrUnread) {
		t.Errorf("unread: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := child.Call(ctx, tool.Call{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
