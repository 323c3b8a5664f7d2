package stream_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// known0 are the events of @ag-ui/core 0.0.31 to 0.0.39, which fails on every other one.
var known0 = []string{
	"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT",
	"STATE_SNAPSHOT", "STATE_DELTA", "MESSAGES_SNAPSHOT", "RAW", "CUSTOM", "RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED",
}

// TestOldAGUI: no version before 1.0 gets what it refuses. Versions before 0.0.43 read
// only lines with a space after "data:".
func TestOldAGUI(t *testing.T) {
	for _, tr := range transcripts(t) {
		out := encode(t, stream.ProtocolAGUI0, tr.options(0), tr.events)
		checkAGUI(t, out)
		for line := range strings.Lines(string(out)) {
			var e struct {
				Type    string
				Delta   json.RawMessage
				Outcome map[string]json.RawMessage
			}
			data, first := strings.CutPrefix(line, "data: ")
			if !first {
				data = strings.TrimPrefix(line, "data:")
			}
			if strings.TrimSpace(data) == "" {
				continue
			}
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err, line)
			}
			if first != slices.Contains(known0, e.Type) || strings.HasPrefix(e.Type, "SUBAGENT") {
				t.Errorf("%s: %s", tr.name, line)
			}
			if e.Type == "TEXT_MESSAGE_CONTENT" && string(e.Delta) == `""` {
				t.Errorf("%s: an empty text: %s", tr.name, line)
			}
			switch typ := string(e.Outcome["type"]); {
			case e.Outcome == nil || typ == `"success"` && len(e.Outcome) == 1:
			case typ == `"interrupt"` && len(e.Outcome) == 2:
			default:
				t.Errorf("%s: %s", tr.name, line)
			}
		}
	}
}

// TestOldAGUISubagents: a client may ask for the events of subagents.
func TestOldAGUISubagents(t *testing.T) {
	tr := transcript{}
	o := tr.options(0)
	o.AGUI.Children = stream.ChildrenNative
	out := encode(t, stream.ProtocolAGUI0, o, []event.Event{
		{Type: event.ChildRun, RunID: "r2", Agent: "a/b", Data: &event.ChildRunData{Status: event.ChildStarted}},
		{Type: event.ChildRun, RunID: "r2", Agent: "a/b", Data: &event.ChildRunData{Status: event.ChildCompleted}},
		{Type: event.Done, RunID: "r1", Agent: "a", Data: &event.DoneData{Reason: event.ReasonStop}},
	})
	checkAGUI(t, out)
	if !bytes.Contains(out, []byte(`data:{"type":"SUBAGENT_STARTED"`)) || bytes.Contains(out, []byte("ACTIVITY")) {
		t.Error(string(out))
	}
}
