package api_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSearchMoments: by topic, by meaning, by name, each once, and no summaries of
// sessions.
func TestSearchMoments(t *testing.T) {
	s := remembering(t, newRemembered())
	for query, want := range map[string]string{
		"tea":              "topic tea-with-sarah, search dream-of-rivers",
		"Sarah's tea":      "topic tea-with-sarah, search dream-of-rivers",
		"river":            "search dream-of-rivers",
		"dreem of rivers":  "search dream-of-rivers",
		"stnd-up":          "fuzzy stand-up",
		"'; DROP \"x\" \\": "",
	} {
		var found []struct {
			Name, Match string
		}
		w := s.do("GET", "/moments/search?q="+strings.NewReplacer(" ", "+", "\"", "%22", "\\", "%5C", ";", "%3B").Replace(query), "", alice...)
		if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil {
			t.Fatal(w.Code, w.Body)
		}
		var got []string
		for _, m := range found {
			got = append(got, m.Match+" "+m.Name)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
