package stream_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// half is a run that was interrupted while the model wrote a call of the client's tool.
func half() *story {
	mine := func(id string, status event.ToolStatus) event.Event {
		e := stage("open_page", id, status)
		e.Data.(*event.ToolCallData).Client = true
		return e
	}
	return &story{
		before: []event.Event{said("I look"), mine("a", event.ToolStarted), written("a", `{"url":`)},
		cut:    &event.RestartData{Runs: []event.CutRun{{RunID: "run1", Agent: "general"}}},
		after: []event.Event{said("I look"), mine("b", event.ToolStarted), written("b", `{}`), mine("b", event.ToolExecuting),
			event.New(&event.DoneData{Reason: event.ReasonToolCalls})},
	}
}

// TestHalfACall: a client cannot drop the beginning of a call, so its response ends. A client
// that comes later gets the whole call alone.
func TestHalfACall(t *testing.T) {
	s := half()
	tr := transcript{}
	for f := stream.Unnamed; f <= stream.None; f++ {
		out := string(encode(t, stream.ProtocolOpenAI, tr.options(f), s.events()))
		if strings.Contains(out, `"id":"b"`) || !strings.Contains(out, "interrupted while the model wrote a tool call") {
			t.Errorf("%s: read on:\n%s", f, out)
		}
		late := string(encode(t, stream.ProtocolOpenAI, tr.options(f), s.known()))
		if strings.Contains(late, `"id":"a"`) || !strings.Contains(late, `"tool_calls":[{"index":0,"id":"b"`) || strings.Contains(late, "interrupted while") {
			t.Errorf("%s: read later:\n%s", f, late)
		}
	}
}

// TestHalfACallLost: pieces that the process lost may be in the client's hands.
func TestHalfACallLost(t *testing.T) {
	s := half()
	lost := slices.Clone(s.events()[:3])
	s.before = s.before[:1]
	for _, arguments := range []bool{true, false} {
		if !arguments {
			s.after = slices.Delete(s.after, 2, 3)
		}
		tr := transcript{}
		tr.reader.Seen = lost[2].Seq
		out := string(encode(t, stream.ProtocolOpenAI, tr.options(stream.Polyglot), s.known()))
		if strings.Contains(out, `"id":"b"`) || !strings.Contains(out, "interrupted while the model wrote a tool call") {
			t.Error(out)
		}
	}
}
