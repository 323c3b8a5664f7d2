package agent

import (
	"cmp"
	"slices"
	"strings"
)

// Near returns the names that are similar to a misspelt one, best first, at most
// limit.
func Near(name string, names []string, limit int) []string {
	type scored struct {
		name string
		cost int
	}
	want := fold(name)
	if want == "" || len(want) > 100 {
		return nil
	}
	var found []scored
	for _, n := range names {
		have := fold(n)
		if len(have) > 200 {
			continue
		}
		cost := distance(want, have)
		if len(want) >= 3 && len(have) >= 3 && (strings.Contains(have, want) || strings.Contains(want, have)) {
			cost = min(cost, 2)
		}
		if len(want) >= 4 && len(have) > len(want)+1 { // the beginning of a longer name
			cost = min(cost, 1+distance(want, have[:len(want)]), 1+distance(want, have[:len(want)+1]))
		}
		if cost <= max(1, min(len(want), len(have))/3) {
			found = append(found, scored{n, cost})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(limit, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// didYouMean returns a hint with the nearest name, "" if there is none.
func didYouMean(name string, names []string) string {
	if near := Near(name, names, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

// fold removes the differences that people mistake most: case, dashes, underscores,
// dots.
func fold(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(s))
}

// distance counts the edits between two words; two swapped letters are one.
func distance(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
