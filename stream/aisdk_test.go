package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// aisdkFields are the fields that a chunk must have; those with a question mark are
// optional. No others are allowed.
var aisdkFields = map[string]string{
	"start": "messageId? messageMetadata?", "start-step": "", "finish-step": "", "reset-step": "",
	"finish": "finishReason? messageMetadata?", "abort": "", "message-metadata": "messageMetadata", "error": "errorText",
	"text-start": "id", "text-delta": "id delta", "text-end": "id",
	"reasoning-start": "id", "reasoning-delta": "id delta", "reasoning-end": "id",
	"tool-input-start":      "toolCallId toolName dynamic? providerExecuted?",
	"tool-input-delta":      "toolCallId inputTextDelta",
	"tool-input-available":  "toolCallId toolName input dynamic? providerExecuted?",
	"tool-input-error":      "toolCallId toolName input errorText dynamic? providerExecuted?",
	"tool-output-available": "toolCallId output dynamic? providerExecuted? preliminary?",
	"tool-output-error":     "toolCallId errorText dynamic? providerExecuted?", "tool-output-denied": "toolCallId",
	"tool-approval-request": "approvalId toolCallId reason?",
	"file":                  "mediaType url",
	"source-url":            "sourceId url title?", "source-document": "sourceId mediaType title filename?",
}

// checkAISDK checks a stream against the strict schema of chunks, and for what breaks the
// client. known are the calls that the client has already.
func checkAISDK(t *testing.T, out []byte, known []string) {
	t.Helper()
	list, done := dataFrames(t, out)
	if !done {
		t.Error("no [DONE]")
	}
	calls, begun, open, input := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, id := range known {
		calls[id] = true
	}
	step, ended := false, false
	for i, c := range list {
		typ, _ := c["type"].(string)
		if ended && typ != "tool-approval-request" {
			t.Errorf("%s after the end", typ)
		}
		checkFields(t, typ, c)
		id := fmt.Sprint(c["id"])
		call := fmt.Sprint(c["toolCallId"])
		switch {
		case (typ == "start") != (i == 0):
			t.Errorf("%s is chunk %d", typ, i)
		case typ == "start-step" || typ == "finish-step":
			if step = !step; step != (typ == "start-step") {
				t.Errorf("%s at %d", typ, i)
			}
		case typ == "reset-step": // no part is open any more
			clear(open)
		case typ == "tool-input-delta":
			if !begun[call] || input[call] {
				t.Errorf("fatal: %v", c)
			}
		case strings.HasSuffix(typ, "-start") && call == "<nil>":
			open[id] = true
		case strings.HasSuffix(typ, "-delta"), strings.HasSuffix(typ, "-end"):
			if !open[id] || !step {
				t.Errorf("fatal: %v", c)
			}
			if strings.HasSuffix(typ, "-end") {
				delete(open, id)
			}
		case typ == "tool-input-start":
			if begun[call] || !step {
				t.Errorf("begun twice, or in no step: %v", c)
			}
			calls[call], begun[call] = true, true
		case strings.HasPrefix(typ, "tool-input"):
			if !calls[call] || input[call] {
				t.Errorf("fatal: %v", c)
			}
			input[call] = true
		case call != "<nil>":
			if !calls[call] {
				t.Errorf("fatal: %v", c)
			}
		case typ == "finish", typ == "abort", typ == "error":
			ended = true
			if len(open) > 0 || step {
				t.Errorf("%s with %v open, step %v", typ, open, step)
			}
		}
	}
}

func checkFields(t *testing.T, typ string, c map[string]any) {
	t.Helper()
	fields, ok := aisdkFields[typ]
	if strings.HasPrefix(typ, "data-") {
		fields, ok = "data id? transient?", true
	}
	if !ok {
		t.Fatalf("fatal: there is no chunk %q", typ)
	}
	allowed := map[string]bool{"type": true}
	for name := range strings.FieldsSeq(fields) {
		name, optional := strings.CutSuffix(name, "?")
		allowed[name] = true
		if _, there := c[name]; !there && !optional {
			t.Errorf("fatal: %s without %s", typ, name)
		}
	}
	for name := range c {
		if !allowed[name] {
			t.Errorf("%s with %s", typ, name)
		}
	}
}

// TestAISDKVersions: a client gets only chunks that its version knows, and loses nothing else.
func TestAISDKVersions(t *testing.T) {
	newer := map[int][]string{
		5: {"tool-approval-request", "tool-output-denied", "reset-step"}, 6: {"reset-step", "reason"}, 7: nil,
	}
	for _, tr := range transcripts(t) {
		count := func(version int) map[string]int {
			o := tr.options(0)
			o.AISDK.Version, o.AISDK.Approvals = version, false
			out := encode(t, stream.ProtocolAISDK, o, tr.events)
			checkAISDK(t, out, tr.known())
			list, _ := dataFrames(t, out)
			n := map[string]int{}
			for _, c := range list {
				typ := fmt.Sprint(c["type"])
				n[typ]++
				if _, reasoned := c["reason"]; reasoned {
					n["reason"]++
				}
			}
			return n
		}
		all := count(7)
		for version, unknown := range newer {
			got := count(version)
			for _, typ := range unknown {
				if got[typ] > 0 {
					t.Errorf("%s: version %d gets %s", tr.name, version, typ)
				}
			}
			if got["data-request"] != all["data-request"] || got["text-delta"] != all["text-delta"] ||
				got["tool-output-error"]+got["tool-output-denied"] != all["tool-output-error"]+all["tool-output-denied"] {
				t.Errorf("%s: version %d gets %v, 7 gets %v", tr.name, version, got, all)
			}
		}
	}
}

// TestPreliminaryIsBounded: the preliminary output of a delegated agent's long text is a
// small multiple of the text, and its last part is always sent.
func TestPreliminaryIsBounded(t *testing.T) {
	call := &event.ToolCallData{Name: "ask_agent", ID: "c1", Status: event.ToolExecuting}
	events := []event.Event{
		{Type: event.ToolCall, RunID: "r1", Agent: "a", Data: call},
		{Type: event.ChildRun, RunID: "r2", Agent: "a/b", Data: &event.ChildRunData{
			Status: event.ChildStarted, ToolCallID: "c1", ParentRunID: "r1",
		}},
	}
	const pieces = 4000
	for i := range pieces {
		events = append(events, event.Event{Type: event.Text, RunID: "r2", Agent: "a/b", Text: fmt.Sprintf("%06d ", i)})
	}
	tr := transcript{}
	size := len(encode(t, stream.ProtocolAISDK, tr.options(0), events))
	if most := 25 * 7 * pieces; size > most {
		t.Errorf("%d bytes for %d of text", size, 7*pieces)
	}
	events = append(events, event.Event{Type: event.ChildRun, RunID: "r2", Agent: "a/b", Data: &event.ChildRunData{Status: event.ChildCompleted}})
	out := string(encode(t, stream.ProtocolAISDK, tr.options(0), events))
	if last := out[strings.LastIndex(out, "data: "):]; !strings.Contains(last, "003999 ") {
		t.Errorf("the end is missing: %.300s", last)
	}
}
