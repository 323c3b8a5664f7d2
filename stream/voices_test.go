package stream_test

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/screen"
	"github.com/p8-org/p8/stream"
)

// TestVoicesOverOpenAI: for agents that speak side by side, a client that is cut off at any
// chunk and comes back with its last number has the stored text.
func TestVoicesOverOpenAI(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := choir(t)
		var said event.Spoken
		for i := range events {
			said.Add(&events[i])
		}
		again := func(after int64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for _, e := range events[after:] {
					if !yield(e, nil) {
						return
					}
				}
			}
		}
		if !rapid.Bool().Draw(t, "again") {
			again = nil
		}
		var client screen.Screen
		for reading := range 3 { // cut off twice
			var out bytes.Buffer
			e := stream.New(stream.ProtocolOpenAI, &out, stream.Options{
				Reader: stream.Reader{IDs: true, Seen: client.Seq, Again: again},
				OpenAI: stream.OpenAIOptions{ID: "c", Model: "m", Format: stream.Polyglot},
			})
			for _, ev := range events {
				if err := e.Write(ev); err != nil {
					t.Fatal(err)
				}
			}
			frames := strings.Split(strings.TrimSpace(out.String()), "\n\n")
			if reading < 2 {
				frames = frames[:rapid.IntRange(0, len(frames)).Draw(t, "frames")]
			}
			for _, frame := range frames {
				_, data, _ := strings.Cut(frame, "data: ")
				if data == "[DONE]" {
					break
				}
				if err := client.Frame(screen.OpenAI, data); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, want := client.Text(screen.OpenAI), said.String(); got != want {
			t.Fatalf("the screen has %q, want %q", short(got), short(want))
		}
	})
}

// padding makes a few texts longer than a reader keeps in memory.
var padding = strings.Repeat("_", 20<<10)

func short(s string) string { return strings.ReplaceAll(s, padding, "_") }

// choir makes the events of a boss and three agents that work at the same time.
func choir(t *rapid.T) []event.Event {
	var all []event.Event
	add := func(run, agent string, e event.Event) {
		e.Seq, e.RunID, e.Agent = int64(len(all)+1), run, agent
		all = append(all, e)
	}
	long := rapid.SampledFrom([]string{"", padding}).Draw(t, "long")
	add("r", "boss", event.NewText("Let me ask."))
	open := map[string]bool{}
	for _, run := range []string{"a", "b", "c"} {
		add("r", "boss", event.New(&event.ToolCallData{Name: "ask_agent", ID: run, Status: event.ToolExecuting}))
		add(run, "boss/"+run, event.New(&event.ChildRunData{Status: event.ChildStarted, ParentRunID: "r", ToolCallID: run}))
		open[run] = true
	}
	for n := range rapid.IntRange(0, 30).Draw(t, "events") {
		run := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "run")
		switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
		case !open[run]:
		case what == 0:
			open[run] = false
			add(run, "boss/"+run, event.New(&event.ChildRunData{Status: event.ChildCompleted, ParentRunID: "r", ToolCallID: run}))
		case what == 1:
			add(run, "boss/"+run, event.New(&event.ToolCallData{Name: "look", ID: "l", Status: event.ToolCompleted}))
		default:
			add(run, "boss/"+run, event.NewText(fmt.Sprintf("%s%d %s", run, n, long)))
		}
	}
	for _, run := range []string{"a", "b", "c"} {
		add("r", "boss", event.New(&event.ToolCallData{Name: "ask_agent", ID: run, Status: event.ToolCompleted}))
	}
	add("r", "boss", event.NewText("That is all."))
	add("r", "boss", event.New(&event.DoneData{Reason: event.ReasonStop}))
	return all
}
