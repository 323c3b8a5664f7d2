package stream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// tree makes the events of a run with nested agents, whose models use the same ids for
// different calls.
type tree struct {
	t      *rapid.T
	events []event.Event
	runs   []*treeRun
	made   int
}

type treeRun struct {
	id, path string
	parent   *treeRun
	asked    string // the parent's call
	calls    []*event.ToolCallData
	waits    map[string]bool // calls that an agent answers
}

func (tr *tree) emit(r *treeRun, d event.Data) {
	tr.events = append(tr.events, event.Event{Type: d.EventType(), RunID: r.id, Agent: r.path, Seq: int64(len(tr.events) + 1), Data: d})
}

func (tr *tree) say(r *treeRun, typ event.Type) {
	tr.events = append(tr.events, event.Event{Type: typ, RunID: r.id, Agent: r.path, Seq: int64(len(tr.events) + 1), Text: "word "})
}

func (tr *tree) begin(parent *treeRun, asked string) {
	tr.made++
	r := &treeRun{id: fmt.Sprintf("r%d", tr.made), path: "root", parent: parent, asked: asked, waits: map[string]bool{}}
	if parent != nil {
		r.path = parent.path + "/a" + fmt.Sprint(tr.made%3)
		tr.emit(r, &event.ChildRunData{Status: event.ChildStarted, ToolCallID: asked, ParentRunID: parent.id})
	}
	tr.runs = append(tr.runs, r)
}

// step performs one random step of a run.
func (tr *tree) step() {
	r := rapid.SampledFrom(tr.runs).Draw(tr.t, "run")
	switch rapid.IntRange(0, 10).Draw(tr.t, "what") {
	case 0, 1, 2:
		tr.say(r, event.Text)
	case 3:
		tr.say(r, event.Reasoning)
	case 4:
		id := rapid.SampledFrom([]string{"c1", "c2", "c3"}).Draw(tr.t, "id")
		if slices.ContainsFunc(r.calls, func(c *event.ToolCallData) bool { return c.ID == id }) {
			return
		}
		call := &event.ToolCallData{Name: "search", ID: id, Status: event.ToolStarted, Client: r.parent == nil && rapid.Bool().Draw(tr.t, "client")}
		r.calls = append(r.calls, call)
		tr.emit(r, call)
	case 5, 6:
		if len(r.calls) == 0 {
			return
		}
		tr.advance(r, rapid.IntRange(0, len(r.calls)-1).Draw(tr.t, "call"))
	case 9, 10:
		if i := slices.IndexFunc(r.calls, func(c *event.ToolCallData) bool { return c.Status == event.ToolStarted }); i >= 0 {
			tr.emit(r, &event.ToolArgumentsData{ID: r.calls[i].ID})
			tr.events[len(tr.events)-1].Text = `{"x"`
		}
	case 7:
		tr.emit(r, &event.ActionData{ActionType: "observation"})
	case 8:
		if r.parent != nil && len(r.calls) == 0 {
			tr.finish(r, event.ChildCompleted)
		}
	}
}

// advance moves a call one stage further.
func (tr *tree) advance(r *treeRun, i int) {
	next := *r.calls[i]
	switch {
	case next.Status == event.ToolStarted && rapid.IntRange(0, 4).Draw(tr.t, "cut") == 0:
		next.Client = false
		r.calls[i] = &next
		tr.answer(r, i, event.ToolFailed)
	case next.Status == event.ToolStarted:
		next.Client = next.Client && rapid.IntRange(0, 3).Draw(tr.t, "wrong") > 0
		next.Status, next.Arguments = event.ToolExecuting, json.RawMessage(`{"x":1}`)
		tr.emit(r, &next)
		r.calls[i] = &next
		if len(tr.runs) < 6 && rapid.Bool().Draw(tr.t, "ask") {
			r.waits[next.ID] = true
			tr.begin(r, next.ID)
		}
	case !r.waits[next.ID]:
		tr.answer(r, i, rapid.SampledFrom([]event.ToolStatus{event.ToolCompleted, event.ToolFailed}).Draw(tr.t, "end"))
	}
}

func (tr *tree) answer(r *treeRun, i int, status event.ToolStatus) {
	end := *r.calls[i]
	end.Client = false
	end.Status, end.Result = status, json.RawMessage(`{"y":2}`)
	r.calls = slices.Delete(r.calls, i, i+1)
	tr.emit(r, &end)
}

// finish ends a child and answers the call that asked it.
func (tr *tree) finish(r *treeRun, status string) {
	tr.emit(r, &event.ChildRunData{Status: status, ToolCallID: r.asked, ParentRunID: r.parent.id})
	tr.runs = slices.DeleteFunc(tr.runs, func(o *treeRun) bool { return o == r })
	delete(r.parent.waits, r.asked)
	tr.answer(r.parent, slices.IndexFunc(r.parent.calls, func(c *event.ToolCallData) bool { return c.ID == r.asked }), event.ToolCompleted)
}

// TestAnyTree: for any tree of agents and any beginning of the response, every client
// accepts every stream, and a reconnecting one gets the rest.
func TestAnyTree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := &tree{t: rt}
		tr.begin(nil, "")
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			tr.step()
		}
		reasons := []string{event.ReasonStop, event.ReasonLength, event.ReasonCancelled, event.ReasonPaused, event.ReasonError}
		tr.emit(tr.runs[0], &event.DoneData{Reason: rapid.SampledFrom(reasons).Draw(rt, "reason")})

		whole := transcript{}
		part := transcript{events: tr.events}
		part.reader.Past = int64(rapid.IntRange(0, len(tr.events)-1).Draw(rt, "past"))
		seen := int64(rapid.IntRange(0, len(tr.events)-1).Draw(rt, "seen"))
		fresh := part.options(0)
		fresh.AISDK.Fresh = true
		checkAISDK(t, encode(t, stream.ProtocolAISDK, fresh, tr.events), nil)
		for _, x := range []*transcript{&whole, &part} {
			checkAGUI(t, encode(t, stream.ProtocolAGUI, x.options(0), tr.events))
			checkAISDK(t, encode(t, stream.ProtocolAISDK, x.options(0), tr.events), x.wires())
			checkFrames(t, stream.Polyglot, encode(t, stream.ProtocolOpenAI, x.options(0), tr.events))
			checkResponses(t, encode(t, stream.ProtocolResponses, x.options(0), tr.events), nil)
			for name, choice := range protocols(x) {
				p, o := choice()
				all := encode(t, p, o, tr.events)
				o.Reader.Seen = seen
				if rest := encode(t, p, o, tr.events); !bytes.HasSuffix(all, rest) {
					rt.Fatalf("%s: the rest is no end of the whole", name)
				}
			}
		}
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

// wires returns the ids of all calls that an earlier response may have shown.
func (tr *transcript) wires() []string {
	ids := tr.known()
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		for n := range 40 {
			ids = append(ids, fmt.Sprintf("%s-%d", id, n))
		}
	}
	return ids
}
