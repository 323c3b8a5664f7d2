package telemetry_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/p8-org/p8/internal/testkit/observed"
	"github.com/p8-org/p8/telemetry"
)

// TestHugeTexts: a span holds a part of a huge text, in memory of its own.
func TestHugeTexts(t *testing.T) {
	r := observed.New(t, telemetry.Options{Content: true})
	huge := strings.Repeat("0123456789abcde ", 1<<16)
	_, op := telemetry.Start(r.Context(t), telemetry.Chat, huge)
	op.String(telemetry.ToolResult, huge)
	op.Strings(telemetry.FinishReasons, huge)
	op.Messages(telemetry.InputMessages, []telemetry.Message{
		{Role: "user", Text: huge},
		{Role: "assistant", Text: huge, Calls: []telemetry.Call{{ID: "1", Name: "search", Arguments: huge}, {ID: "2", Name: "search", Arguments: huge}}},
	})
	op.End(errors.New(huge))
	span := r.Spans()[0]
	if len(span.Name) > 2<<10 || len(span.Status.Description) > 32<<10 {
		t.Errorf("the name has %d bytes, the status %d", len(span.Name), len(span.Status.Description))
	}
	from, to := uintptr(unsafe.Pointer(unsafe.StringData(huge))), uintptr(len(huge))
	for _, a := range span.Attributes {
		text := a.Value.AsString()
		if list := a.Value.AsStringSlice(); len(list) > 0 {
			text = list[0]
		}
		if len(text) > 32<<10 {
			t.Errorf("%s has %d bytes", a.Key, len(text))
		}
		if at := uintptr(unsafe.Pointer(unsafe.StringData(text))); at >= from && at-from < to {
			t.Errorf("%s holds the whole text", a.Key)
		}
	}
}

// TestMessages: what fits in is JSON.
func TestMessages(t *testing.T) {
	r := observed.New(t, telemetry.Options{Content: true})
	_, op := telemetry.Start(r.Context(t), telemetry.Chat, "m")
	op.Messages(telemetry.InputMessages, []telemetry.Message{{Role: "user", Text: "hello"}, {Role: "tool", CallID: "c", Text: "4"}})
	op.End(nil)
	for _, a := range r.Spans()[0].Attributes {
		if a.Key == telemetry.InputMessages {
			if text := a.Value.AsString(); !json.Valid([]byte(text)) || !strings.Contains(text, `"response":"4"`) {
				t.Error(text)
			}
			return
		}
	}
	t.Error("no messages")
}

// TestStatus: the message of an error may quote a user, so it is content.
func TestStatus(t *testing.T) {
	for content, want := range map[bool]string{false: "429", true: "the server says 429"} {
		r := observed.New(t, telemetry.Options{Content: content})
		_, op := telemetry.Start(r.Context(t), telemetry.Retrieval, "LOOKUP")
		op.End(typed("429"))
		if got := r.Spans()[0].Status.Description; got != want {
			t.Errorf("content %v: the status is %q", content, got)
		}
	}
}
