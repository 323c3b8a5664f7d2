package stream_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// TestAISDKSources: what tools and the agent name as sources is shown once, within a step,
// and at most so many of them.
func TestAISDKSources(t *testing.T) {
	end := func(id string, sources ...event.Source) event.Event {
		return event.Event{Type: event.ToolCall, RunID: "r1", Agent: "a", Data: &event.ToolCallData{
			Name: "search", ID: id, Status: event.ToolCompleted, Arguments: []byte(`{}`), Result: []byte(`{}`), Sources: sources,
		}}
	}
	page := event.Source{ID: "guide", URL: "https://example.com/guide", Title: "The \"guide\""}
	many := make([]event.Source, 200)
	for i := range many {
		many[i] = event.Source{ID: fmt.Sprint("many-", i)}
	}
	events := []event.Event{
		end("c1", page, event.Source{ID: "plan", Title: "Plan", Name: "plan.md"}, event.Source{}),
		end("c2", event.Source{ID: "other", URL: page.URL}, event.Source{ID: "plan"}),
		{Type: event.Metadata, RunID: "r1", Agent: "a", Data: &event.MetadataData{Sources: []string{"plan", "https://example.com/guide", "https://example.com/new", "notes"}}},
		end("c3", many...),
		{Type: event.Done, RunID: "r1", Agent: "a", Data: &event.DoneData{Reason: event.ReasonStop}},
	}
	tr := transcript{}
	for version := range 8 {
		o := tr.options(0)
		o.AISDK.Version = version
		out := encode(t, stream.ProtocolAISDK, o, events)
		checkAISDK(t, out, nil)
		list, _ := dataFrames(t, out)
		var got []map[string]any
		for _, c := range list {
			if c["type"] == "source-url" || c["type"] == "source-document" {
				got = append(got, c)
			}
		}
		want := []map[string]any{
			{"type": "source-url", "sourceId": "guide", "url": page.URL, "title": page.Title},
			{"type": "source-document", "sourceId": "plan", "mediaType": "text/plain", "title": "Plan", "filename": "plan.md"},
			{"type": "source-url", "sourceId": "https://example.com/new", "url": "https://example.com/new"},
			{"type": "source-document", "sourceId": "notes", "mediaType": "text/plain", "title": "notes"},
		}
		if len(got) != 100 {
			t.Fatalf("%d sources", len(got))
		}
		if diff := cmp.Diff(want, got[:4]); diff != "" {
			t.Error(diff)
		}
	}
}
