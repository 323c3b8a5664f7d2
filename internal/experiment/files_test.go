package experiment

import (
	"encoding/json"
	"testing"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/dataset"
)

func TestVibe(t *testing.T) {
	for want, r := range map[string]Result{
		`{"id":"1","input":"q","ground_truth":"x","category":"c","agent_output":"a","status":"success"}`: {
			Case: dataset.Case{ID: "1", Input: "q", Expected: json.RawMessage(`"x"`), Metadata: map[string]any{"category": "c"}}, Output: &evaluation.Output{Text: "a"},
		},
		`{"id":"2","input":"q","ground_truth":null,"category":"","agent_output":{"n":1},"status":"error: gone"}`: {
			Case: dataset.Case{ID: "2", Input: "q"}, Output: &evaluation.Output{Value: json.RawMessage(`{"n":1}`), Error: "gone"},
		},
	} {
		if got, err := json.Marshal(NewVibe(&r)); err != nil || string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
