package store

import (
	"encoding/json"
	"testing"
)

func TestEdgeForms(t *testing.T) {
	for src, want := range map[string]Edge{
		`{"target":"a","relation":"manages","weight":0.5,"reason":"r"}`: {"a", "manages", 0.5, "r"},
		`{"dst":"a","rel_type":"manages"}`:                              {"a", "manages", 1, ""},
		`{"target":"a","type":"manages","weight":0}`:                    {"a", "manages", 0, ""},
		`{"target":"a"}`: {"a", DefaultRelation, 1, ""},
	} {
		var got Edge
		if err := json.Unmarshal([]byte(src), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", src, got, err)
		}
		again, err := json.Marshal(got)
		var back Edge
		if e := json.Unmarshal(again, &back); err != nil || e != nil || back != want {
			t.Errorf("%s: written as %s, read as %+v", src, again, back)
		}
	}
	if err := json.Unmarshal([]byte(`"a"`), new(Edge)); err == nil {
		t.Error("a text is no edge")
	}
}
