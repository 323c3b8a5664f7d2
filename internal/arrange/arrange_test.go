package arrange

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestBy compares with the standard library's stable sort.
func TestBy(t *testing.T) {
	type element struct{ Key, Place int }
	compare := func(a, b element) int { return cmp.Compare(a.Key, b.Key) }
	rapid.Check(t, func(t *rapid.T) {
		got := make([]element, 0)
		for i, key := range rapid.SliceOf(rapid.IntRange(-9, 9)).Draw(t, "keys") {
			got = append(got, element{key, i})
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, compare)
		By(got, compare)
		if !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
	By[element](nil, compare)
}
