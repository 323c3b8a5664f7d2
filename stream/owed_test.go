package stream_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// TestCallsThatAreStillOwed: after some results of a client's tools, the response names the
// calls that the run still waits for, and no others.
func TestCallsThatAreStillOwed(t *testing.T) {
	call := func(id string, status event.ToolStatus) event.Event {
		return event.New(&event.ToolCallData{Name: "ring", ID: id, Status: status, Client: status == event.ToolExecuting, Arguments: json.RawMessage(`{"n":1}`)})
	}
	done := event.New(&event.DoneData{Reason: event.ReasonToolCalls})
	events := []event.Event{
		call("given", event.ToolExecuting), call("owed", event.ToolExecuting), done,
		call("given", event.ToolCompleted), done,
	}
	const past = 3
	var streamed strings.Builder
	enc := stream.New(stream.ProtocolOpenAI, &streamed, stream.Options{Reader: stream.Reader{Past: past, Newest: past + 1}})
	var c stream.Completion
	for i, e := range events {
		e.Seq, e.Agent = int64(i+1), "boss"
		if err := enc.Write(e); err != nil {
			t.Fatal(err)
		}
		if e.Seq <= past {
			c.Known(e)
		} else {
			c.Add(e)
		}
	}
	whole, err := c.Append(nil, stream.CompletionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"stream": streamed.String(), "object": string(whole)} {
		if !strings.Contains(got, `"id":"owed","type":"function","function":{"name":"ring"`) {
			t.Errorf("the %s does not ask again for what is owed: %s", what, got)
		}
		if strings.Contains(got, `"id":"given"`) || !strings.Contains(got, `"finish_reason":"tool_calls"`) {
			t.Errorf("the %s: %s", what, got)
		}
	}
}
