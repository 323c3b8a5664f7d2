package event_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
)

func TestJSONRoundTrip(t *testing.T) {
	confidence := 0.9
	for _, want := range []event.Event{
		event.New(&event.ProgressData{Step: 1, TotalSteps: 3, Label: "Processing request", Status: "in_progress"}),
		event.NewReasoning("hm"),
		event.NewText("Hello \u2028 \x00 world"),
		event.New(&event.ToolCallData{Name: "search", ID: "call_1", Status: event.ToolExecuting, Arguments: json.RawMessage(`{"query":"LOOKUP x"}`)}),
		event.New(&event.ActionData{ActionType: "observation", Payload: json.RawMessage(`{"confidence":0.9}`)}),
		event.New(&event.ActionRequestData{Card: json.RawMessage(`{"id":"c"}`)}),
		event.New(&event.MetadataData{MessageID: "m", Confidence: &confidence, Sources: []string{"a"}}),
		event.New(&event.UsageData{InputTokens: 3, Requests: 1}),
		event.New(&event.WarningData{Code: "tool_unavailable", Message: "no tool"}),
		event.New(&event.ErrorData{Code: "provider_unavailable", Message: "down"}),
		event.New(&event.DoneData{Reason: event.ReasonStop, Output: json.RawMessage(`{"a":1}`)}),
	} {
		t.Run(want.Type.String(), func(t *testing.T) {
			want.RunID, want.Seq, want.Agent = "r1", 7, "general/child"
			b, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var got event.Event
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n%s", b, diff)
			}
		})
	}
}

func TestUnknownType(t *testing.T) {
	var e event.Event
	if err := json.Unmarshal([]byte(`{"type":"gossip"}`), &e); err == nil {
		t.Error("an unknown type was read without an error")
	}
}

func TestTypesAndTheirData(t *testing.T) {
	for typ := event.Progress; typ <= event.Done; typ++ {
		var e event.Event
		if err := json.Unmarshal([]byte(`{"type":"`+typ.String()+`","data":{}}`), &e); err != nil {
			t.Fatalf("%s: %v", typ, err)
		}
		if e.Data != nil && e.Data.EventType() != typ {
			t.Errorf("the payload of %s says it is of %s", typ, e.Data.EventType())
		}
	}
}

// TestCostsAddUp: sums of money have no noise of binary fractions.
func TestCostsAddUp(t *testing.T) {
	var sum event.UsageData
	for range 5 {
		sum.Add(event.UsageData{CostUSD: 0.00006})
	}
	if sum.CostUSD != 0.0003 {
		t.Errorf("five times 0.00006 is %v", sum.CostUSD)
	}
}
