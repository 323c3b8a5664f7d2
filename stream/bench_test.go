package stream_test

import (
	"io"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// BenchmarkEncoders: for each protocol, one stream of 100 pieces of text, of the root or of
// a delegated agent; allocs/op are those of the whole stream.
func BenchmarkEncoders(b *testing.B) {
	tr := transcript{}
	for _, p := range []stream.Protocol{stream.ProtocolOpenAI, stream.ProtocolAGUI, stream.ProtocolAISDK, stream.ProtocolEvents} {
		for name, events := range map[string][]event.Event{"root": longText("r1", "general"), "child": longText("r2", "general/researcher")} {
			b.Run(string(p)+"/"+name, func(b *testing.B) {
				o := tr.options(stream.Polyglot)
				b.ReportAllocs()
				for b.Loop() {
					e := stream.New(p, io.Discard, o)
					for _, ev := range events {
						if err := e.Write(ev); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// longText is a run that asks an agent, with 100 pieces of text of either.
func longText(run, agent string) []event.Event {
	events := begun()
	for i := range 100 {
		events = append(events, event.Event{
			Type: event.Text, RunID: run, Agent: agent, Seq: int64(len(events) + i + 1), Text: "piece of \"text\" ",
		})
	}
	return append(events, event.Event{Type: event.Done, RunID: "r1", Agent: "general", Data: &event.DoneData{Reason: event.ReasonStop}})
}

// begun is the beginning of a run that asks an agent.
func begun() []event.Event {
	return []event.Event{
		{Type: event.ToolCall, RunID: "r1", Agent: "general", Data: &event.ToolCallData{
			Name: "ask_agent", ID: "call_1", Status: event.ToolExecuting,
		}},
		{Type: event.ChildRun, RunID: "r2", Agent: "general/researcher", Data: &event.ChildRunData{
			Status: event.ChildStarted, ToolCallID: "call_1", ParentRunID: "r1",
		}},
	}
}

// TestTextAllocatesNothing pins the allocations of text, the SSE connection included.
func TestTextAllocatesNothing(t *testing.T) {
	sse := stream.NewSSE(discard{newClient()}, stream.SSEOptions{})
	defer sse.Close()
	for name, choice := range protocols(&transcript{}) {
		for _, text := range []event.Event{
			{Type: event.Text, RunID: "r1", Agent: "general"},
			{Type: event.Text, RunID: "r2", Agent: "general/researcher"},
			{Type: event.Reasoning, RunID: "r1", Agent: "general"},
			{Type: event.Reasoning, RunID: "r2", Agent: "general/researcher"},
			{Type: event.ToolArguments, RunID: "r1", Agent: "general", Data: &event.ToolArgumentsData{ID: "mine"}},
			{Type: event.ToolArguments, RunID: "r2", Agent: "general/researcher", Data: &event.ToolArgumentsData{ID: "mine"}},
		} {
			p, o := choice()
			o.Reader.IDs = true
			e := stream.New(p, sse, o)
			for _, ev := range begun() {
				_ = e.Write(ev)
			}
			_ = e.Write(event.Event{Type: event.ToolCall, RunID: text.RunID, Agent: text.Agent, Data: &event.ToolCallData{
				Name: "open_page", ID: "mine", Status: event.ToolStarted, Client: true,
			}})
			text.Seq, text.Text = 1000, "piece of \"text\" \u2028 "
			_ = e.Write(text)
			if n := testing.AllocsPerRun(100, func() { _ = e.Write(text) }); n > 0 {
				t.Errorf("%s %s of %s: %v allocations", name, text.Type, text.Agent, n)
			}
		}
	}
}

// discard is a client that reads and forgets.
type discard struct{ *client }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) FlushError() error           { return nil }
