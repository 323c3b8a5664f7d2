package docs

import (
	"regexp"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	pages, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	keys := make(map[string]bool)
	for _, p := range pages {
		keys[p.Key] = true
		if p.Key == "rough_edges" {
			t.Error("rough_edges is no page for users")
		}
		if p.Title == "" || strings.HasPrefix(p.Title, "#") {
			t.Errorf("%s: no title", p.Key)
		}
		// The summary must answer by itself what the page is about.
		if n := len(p.Summary); n < 60 || n > 250 || !strings.HasSuffix(p.Summary, ".") {
			t.Errorf("%s: the first paragraph has %d characters, want one plain sentence or two: %q", p.Key, n, p.Summary)
		}
		// The table of the settings is generated, and as long as there are settings.
		if n := strings.Count(p.Text, "\n") - strings.Count(p.Text, "\n| `P8_"); n > 150 {
			t.Errorf("%s: %d lines, at most 150", p.Key, n)
		}
	}
	if len(pages) < 10 {
		t.Errorf("only %d pages", len(pages))
	}
	// search.md lists the keys of all pages.
	search, _ := files.ReadFile("search.md")
	for key := range keys {
		if !strings.Contains(string(search), "`"+key+"`") {
			t.Errorf("search.md does not name %s", key)
		}
	}
	// A page that another one points to exists.
	pointer := regexp.MustCompile("(?:[Ss]ee|page) `([a-z-]+)`")
	for _, p := range pages {
		for _, m := range pointer.FindAllStringSubmatch(p.Text, -1) {
			if !keys[m[1]] {
				t.Errorf("%s points to %s, which does not exist", p.Key, m[1])
			}
		}
	}
}
