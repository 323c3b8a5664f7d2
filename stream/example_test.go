package stream_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// answer is a short run, as run.Stream yields it.
func answer() []event.Event {
	events := []event.Event{
		event.NewText("Sarah leaves "), event.NewText("in May."), event.New(&event.DoneData{Reason: event.ReasonStop}),
	}
	for i := range events {
		events[i].RunID, events[i].Seq, events[i].Agent = "r1", int64(i+1), "general"
	}
	return events
}

// An encoder turns the events of a run into the frames of a protocol.
func ExampleNew() {
	enc := stream.New(stream.ProtocolEvents, os.Stdout, stream.Options{})
	for _, ev := range answer() {
		if err := enc.Write(ev); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// event: text
	// data: {"type":"text","run_id":"r1","seq":1,"agent":"general","text":"Sarah leaves "}
	//
	// event: text
	// data: {"type":"text","run_id":"r1","seq":2,"agent":"general","text":"in May."}
	//
	// event: done
	// data: {"type":"done","run_id":"r1","seq":3,"agent":"general","data":{"reason":"stop"}}
}

// A client that reconnects names its last event. The encoder still gets every event,
// because its output depends on the earlier ones.
func ExampleReader() {
	var out strings.Builder
	enc := stream.New(stream.ProtocolEvents, &out, stream.Options{Reader: stream.Reader{Seen: 2}})
	for _, ev := range answer() {
		if err := enc.Write(ev); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Print(out.String())
	// Output:
	// event: done
	// data: {"type":"done","run_id":"r1","seq":3,"agent":"general","data":{"reason":"stop"}}
}

// A response that is not streamed is one object.
func ExampleCompletion() {
	var c stream.Completion
	for _, ev := range answer() {
		c.Add(ev)
	}
	text, err := c.Append(nil, stream.CompletionOptions{ID: "chatcmpl-1", Model: "general", Created: time.Unix(1760000000, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	var object struct {
		Model   string
		Choices []struct {
			Message struct{ Role, Content string }
		}
	}
	if err := json.Unmarshal(text, &object); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(object.Model, object.Choices)
	// Output: general [{{assistant Sarah leaves in May.}}]
}
