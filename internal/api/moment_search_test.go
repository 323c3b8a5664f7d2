package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzSearchMoments: any query returns moments or one clear sentence.
func FuzzSearchMoments(f *testing.F) {
	for _, text := range []string{"tea", `"; DROP`, "a LIMIT 5", "\\", "x WHERE \"1=1\" LOAD", "é\x00", "[a, b]", "EXPLAIN x", "tea FROM users"} {
		f.Add(text)
	}
	s := remembering(f, newRemembered())
	f.Fuzz(func(t *testing.T, text string) {
		w := s.do("GET", "/moments/search?q="+url.QueryEscape(text), "", alice...)
		if w.Code >= http.StatusInternalServerError || w.Code != http.StatusOK && !strings.Contains(w.Body.String(), `"detail":"`) {
			t.Errorf("%q: %d %s", text, w.Code, w.Body)
		}
	})
}

// TestSearchMoments: the search finds by topic, by meaning and by name, each moment once,
// without summaries of sessions.
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
