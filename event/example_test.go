package event_test

import (
	"encoding/json"
	"fmt"

	"github.com/p8-org/p8/event"
)

// A consumer of a run switches over the type, and finds the payload behind Data.
func Example() {
	run := []event.Event{
		event.New(&event.ToolCallData{Name: "search", ID: "call_1", Status: event.ToolStarted}),
		event.NewText("Sarah leaves "),
		event.NewText("in May."),
		event.New(&event.DoneData{Reason: event.ReasonStop}),
	}
	var answer event.Deltas
	for _, ev := range run {
		switch d := ev.Data.(type) {
		case *event.ToolCallData:
			fmt.Println("tool:", d.Name, d.Status)
		case *event.DoneData:
			fmt.Println("done:", d.Reason)
		case nil: // text and reasoning have no payload
			if ev.Type == event.Text {
				answer.Add(ev.Text)
			}
		}
	}
	fmt.Println(answer.String())
	// Output:
	// tool: search started
	// done: stop
	// Sarah leaves in May.
}

// An event is one JSON object, whatever reads it.
func ExampleEvent_MarshalJSON() {
	ev := event.New(&event.WarningData{Code: "mcp_server_unavailable", Message: "the server notes is down"})
	ev.RunID, ev.Seq, ev.Agent = "r1", 3, "general/researcher"
	text, err := json.Marshal(ev)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(string(text))
	// Output: {"type":"warning","run_id":"r1","seq":3,"agent":"general/researcher","data":{"code":"mcp_server_unavailable","message":"the server notes is down"}}
}

// A log is one event a line. A reader that comes back skips the events that it has.
func ExampleReadLog() {
	var log []byte
	for i, text := range []string{"Sarah ", "leaves ", "in May."} {
		ev := event.NewText(text)
		ev.Seq = int64(i + 1)
		log = event.AppendLog(log, &ev)
	}
	for ev, err := range event.ReadLog(log, 1) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %q\n", ev.Seq, ev.Text)
	}
	// Output:
	// 2 "leaves "
	// 3 "in May."
}
