package store

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestKeywordTerms(t *testing.T) {
	for text, want := range map[string]string{
		"What does the Quarterly report say about Zürich?": "quarterly report say zürich",
		"what is the":              "what is the",
		"tea, TEA & Tea":           "tea",
		`"a" OR NEAR(b*) -c ^d: e`: "near b c d e",
		"exit code 2, p8":          "exit code 2 p8",
		"茶 和 咖啡":                   "茶 和 咖啡",
		" .,;\x00":                 "",
		"½ cup, x² ① \u0301":       "cup x²",
		strings.Repeat("x", 101):   "",
	} {
		if got := strings.Join(KeywordTerms(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	var many []string
	for i := range 100 {
		many = append(many, "w"+strings.Repeat("x", i%90)+string(rune('a'+i%26)))
	}
	if n := len(KeywordTerms(strings.Join(many, " "))); n != MaxTerms {
		t.Errorf("%d terms of a long text, want %d", n, MaxTerms)
	}
}

func FuzzKeywordTerms(f *testing.F) {
	f.Add(`"x" OR y`)
	f.Fuzz(func(t *testing.T, text string) {
		terms := KeywordTerms(text)
		for i, term := range terms {
			if term == "" || strings.ContainsAny(term, "\"'*:^()-+&|!<> \x00") || slices.Contains(terms[:i], term) {
				t.Errorf("%q has the term %q", text, term)
			}
		}
	})
}

func TestFuse(t *testing.T) {
	near := []Ranked{{"t", "a", 0.9, 0}, {"t", "b", 0.8, 0}, {"_", "a", 0.7, 0}}
	words := []Ranked{{"t", "b", 12, 0}, {"t", "c", 3, 0}}
	var got []string
	for _, r := range fuse(near, words) {
		got = append(got, r.TenantID+r.ID)
	}
	// b is in both; a of t is first of one; then the second, and the third.
	if want := []string{"tb", "ta", "tc", "_a"}; !slices.Equal(got, want) {
		t.Errorf("fused %v, want %v", got, want)
	}
	if top := fuse(near, words)[0].Score; math.Abs(top-1./62-1./61) > 1e-12 {
		t.Errorf("the score of both ranks is %v", top)
	}
}
