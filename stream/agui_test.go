package stream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// dataFrames are the JSON objects of a stream that has data lines only, and
// whether [DONE] ended it.
func dataFrames(t *testing.T, out []byte) (list []map[string]any, done bool) {
	t.Helper()
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(frame, "data:")
		data = strings.TrimPrefix(data, " ")
		if !ok || strings.Contains(data, "\n") || done {
			t.Fatalf("bad frame %q", frame)
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(data), &object); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		list = append(list, object)
	}
	return list, done
}

// aguiFields are the fields that an event must have.
var aguiFields = map[string]string{
	"RUN_STARTED": "threadId runId", "RUN_FINISHED": "threadId runId", "RUN_ERROR": "message",
	"TEXT_MESSAGE_START": "messageId role", "TEXT_MESSAGE_CONTENT": "messageId delta", "TEXT_MESSAGE_END": "messageId",
	"REASONING_START": "messageId", "REASONING_MESSAGE_START": "messageId role", "REASONING_MESSAGE_CONTENT": "messageId delta",
	"REASONING_MESSAGE_END": "messageId", "REASONING_END": "messageId",
	"TOOL_CALL_START": "toolCallId toolCallName", "TOOL_CALL_ARGS": "toolCallId delta", "TOOL_CALL_END": "toolCallId",
	"TOOL_CALL_RESULT": "messageId toolCallId content", "CUSTOM": "name value", "ACTIVITY_SNAPSHOT": "messageId activityType content",
	"STEP_STARTED": "stepName", "STEP_FINISHED": "stepName", "ACTIVITY_DELTA": "messageId activityType patch",
	"STATE_SNAPSHOT": "snapshot", "STATE_DELTA": "delta",
	"SUBAGENT_STARTED": "subagentRunId name", "SUBAGENT_FINISHED": "subagentRunId", "SUBAGENT_ERROR": "subagentRunId message",
}

// checkAGUI checks a stream as AG-UI's client does.
func checkAGUI(t *testing.T, out []byte) {
	t.Helper()
	list, done := dataFrames(t, out)
	if done {
		t.Error("AG-UI has no [DONE]")
	}
	attributed := bytes.Contains(out, []byte(`"SUBAGENT_STARTED"`)) // else there are only owners
	open := map[string]bool{}                                       // messages, calls and subagents in progress
	owner := map[string]string{}                                    // of messages and calls
	finished := map[string]bool{}                                   // subagents
	for i, e := range list {
		typ, _ := e["type"].(string)
		fields, ok := aguiFields[typ]
		if !ok {
			t.Fatalf("there is no event %q", typ)
		}
		for name := range strings.FieldsSeq(fields) {
			if e[name] == nil {
				t.Errorf("%s without %s: %v", typ, name, e)
			}
		}
		if _, stamped := e["timestamp"]; stamped != (typ != "CUSTOM") {
			t.Errorf("timestamp of %v", e)
		}
		last := typ == "RUN_FINISHED" || typ == "RUN_ERROR"
		if first := typ == "RUN_STARTED"; first != (i == 0) || last != (i == len(list)-1) {
			t.Errorf("%s is event %d of %d", typ, i+1, len(list))
		}
		run, _ := e["subagentRunId"].(string)
		if run != "" && attributed && typ != "SUBAGENT_STARTED" && !open["subagent "+run] {
			t.Errorf("the subagent is not at work: %v", e)
		}
		id, _ := e["messageId"].(string)
		if strings.HasPrefix(typ, "TOOL_CALL") {
			id, _ = e["toolCallId"].(string)
		}
		_, stage, _ := strings.Cut(typ, "_")
		key := begin(typ) + id
		switch {
		case strings.HasPrefix(typ, "STEP"):
			key := fmt.Sprint("step ", e["stepName"])
			if open[key] == (stage == "STARTED") {
				t.Errorf("out of turn: %v", e)
			}
			if open[key] = true; stage == "FINISHED" {
				delete(open, key)
			}
		case typ == "ACTIVITY_DELTA":
		case strings.HasPrefix(typ, "SUBAGENT"):
			if key := "subagent " + run; stage == "STARTED" {
				if open[key] || finished[key] {
					t.Errorf("begun twice: %v", e)
				}
				open[key] = true
			} else {
				delete(open, key)
				finished[key] = true
			}
		case typ == "TOOL_CALL_RESULT" || id == "":
		case typ == "ACTIVITY_SNAPSHOT": // takes the place of a message that has ended
		case strings.HasSuffix(typ, "_START"):
			if _, seen := owner[key]; open[key] || seen {
				t.Errorf("begun twice: %v", e)
			}
			open[key], owner[key] = true, run
		default:
			if !open[key] || owner[key] != run {
				t.Errorf("not begun, or by %q: %v", owner[key], e)
			}
			if strings.HasSuffix(typ, "_END") {
				delete(open, key)
			}
		}
		if last && len(open) > 0 {
			t.Errorf("%s while %v are open", typ, open)
		}
	}
}

// begin returns the kind of thing that an event belongs to.
func begin(typ string) string { return typ[:max(0, strings.LastIndexByte(typ, '_'))] }

// TestAGUIChildren: a client older than 1.0 gets only events that it knows, and one that
// wants the native events gets only those.
func TestAGUIChildren(t *testing.T) {
	for _, tr := range transcripts(t) {
		o := tr.options(0)
		o.AGUI.Children = stream.ChildrenCustom
		out := encode(t, stream.ProtocolAGUI, o, tr.events)
		checkAGUI(t, out)
		if bytes.Contains(out, []byte("SUBAGENT")) || bytes.Contains(out, []byte("subagent")) {
			t.Errorf("%s: %s", tr.name, out)
		}
		o.AGUI.Children = stream.ChildrenNative
		out = encode(t, stream.ProtocolAGUI, o, tr.events)
		checkAGUI(t, out)
		if bytes.Contains(out, []byte(`"name":"child_`)) && !bytes.Contains(out, []byte(`"name":"child_run"`)) {
			t.Errorf("%s: %s", tr.name, out)
		}
	}
}

// TestStructuredChildAfterItsEnd: a child's answer may come after the end of its run.
func TestStructuredChildAfterItsEnd(t *testing.T) {
	events := []event.Event{
		{Type: event.ChildRun, RunID: "r2", Agent: "a/b", Data: &event.ChildRunData{Status: event.ChildStarted}},
		{Type: event.ChildRun, RunID: "r2", Agent: "a/b", Data: &event.ChildRunData{Status: event.ChildCompleted}},
		{Type: event.ToolCall, RunID: "r2", Agent: "a/b", Data: &event.ToolCallData{
			Name: "b", ID: "b_structured_output", Status: event.ToolCompleted, Result: json.RawMessage(`{"x":1}`), Structured: true,
		}},
		{Type: event.Done, RunID: "r1", Agent: "a", Data: &event.DoneData{Reason: event.ReasonStop}},
	}
	tr := transcript{}
	out := encode(t, stream.ProtocolAGUI, tr.options(0), events)
	checkAGUI(t, out)
	if !bytes.Contains(out, []byte(`"toolCallId":"b_structured_output","content":"{\"x\":1}"`)) {
		t.Error(string(out))
	}
}

// TestStillPaused: after the answer to one of two questions, the other one stays open.
func TestStillPaused(t *testing.T) {
	for _, tr := range transcripts(t) {
		if tr.name != "approval" {
			continue
		}
		last := tr.events[len(tr.events)-1]
		again := last
		again.Seq = 0
		tr.reader.Past = last.Seq
		o := tr.options(0)
		o.AGUI.Decided = func(id string) bool { return id == "q1" }
		out := encode(t, stream.ProtocolAGUI, o, append(tr.events, again))
		checkAGUI(t, out)
		if bytes.Contains(out, []byte(`"id":"q1"`)) || !bytes.Contains(out, []byte(`"interrupts":[{"id":"q2"`)) {
			t.Error(string(out))
		}
		checkAISDK(t, encode(t, stream.ProtocolAISDK, o, append(tr.events, again)), tr.known())
	}
}
