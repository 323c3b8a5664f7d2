package evaluation_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/evaluation"
)

func TestSelfAwareness(t *testing.T) {
	doc := compile(t, "name: trip-planner\ndescription: Plans.\nproperties: {city: {type: string}, day_count: {type: integer}}\ntools: [search, {name: book, server: trips}]").Document
	now := time.Date(2026, 11, 5, 12, 0, 0, 0, time.UTC)
	questions := evaluation.SelfAwareness(doc, now)
	var expected []string
	for _, q := range questions {
		expected = append(expected, q.Metadata["category"].(string)+" "+string(q.Expected))
	}
	if diff := cmp.Diff([]string{
		`identity ["trip-planner"]`, `structure ["city","day_count"]`, `tools ["search","book"]`,
		`context [["November 5, 2026","5 November 2026","2026-11-05"]]`,
	}, expected); diff != "" {
		t.Fatal(diff)
	}
	check, err := evaluation.Parse("", []byte("type: self_awareness"))
	if err != nil {
		t.Fatal(err)
	}
	for i, tc := range []struct {
		answer string
		score  float64
	}{
		{"I am the Trip Planner.", 1}, {"I have city and notes.", 0.5}, {"No tools at all.", 0}, {"It is 5 november 2026.", 1},
	} {
		s := questions[i]
		s.Output.Text = tc.answer
		v, err := check[0].Evaluate(t.Context(), s)
		if err != nil || v.Overall.Value != tc.score || *v.Overall.Pass != (tc.score >= 0.5) {
			t.Errorf("%s: %+v, %v", tc.answer, v.Overall, err)
		}
	}
	s := evaluation.Sample{Expected: json.RawMessage(`["x"]`)}
	if v, err := check[0].Evaluate(t.Context(), s); err != nil || v.Overall.Value != 0 {
		t.Errorf("an empty answer: %+v, %v", v, err)
	}
	if plain := evaluation.SelfAwareness(compile(t, "name: x\ndescription: y").Document, now); len(plain) != 2 {
		t.Errorf("an agent without fields and tools is asked %d questions", len(plain))
	}
}
