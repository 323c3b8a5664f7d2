package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
)

func TestMergeMetadata(t *testing.T) {
	sources := make([]string, 1, 8)
	sources[0] = "a"
	first := &event.MetadataData{
		Confidence: new(0.5), Sources: sources, Flags: []string{"x"}, RiskLevel: "low", RiskScore: new(10),
		SessionName: "one", Extra: map[string]any{"k": 1, "l": 1},
	}
	second := &event.MetadataData{
		Confidence: new(0.0), Sources: []string{"b", "a", "b"}, References: []string{"r"}, SessionName: "two",
		Extra: map[string]any{"k": 2}, LatencyMS: 7,
	}
	var dst event.MetadataData
	mergeMetadata(&dst, first)
	mergeMetadata(&dst, second)
	mergeMetadata(&dst, nil)
	want := event.MetadataData{
		Confidence: new(0.0), Sources: []string{"a", "b"}, References: []string{"r"}, Flags: []string{"x"}, RiskLevel: "low",
		RiskScore: new(10), SessionName: "two", Extra: map[string]any{"k": 2, "l": 1}, LatencyMS: 7,
	}
	if diff := cmp.Diff(want, dst); diff != "" {
		t.Error(diff)
	}
	if first.Extra["k"] != 1 || sources[:2][1] != "" || *first.Confidence != 0.5 {
		t.Error("the merge wrote into what it merged")
	}
}
