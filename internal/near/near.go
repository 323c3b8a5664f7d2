// Package near finds names that are similar to a misspelt one, for the hints
// "did you mean …?" of errors.
package near

import (
	"cmp"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
)

// Names returns the names that are similar to a misspelt one, the nearest first: at most
// limit, none if nothing is similar. Case, dashes, underscores and dots do not count, and
// the beginning of a longer name is close to it.
func Names(name string, names []string, limit int) []string {
	type scored struct {
		name string
		cost int
	}
	want := Fold(name)
	if want == "" || len(want) > 100 {
		return nil
	}
	var found []scored
	for _, n := range names {
		have := Fold(n)
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
	arrange.By(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, f := range found[:min(limit, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// Word returns the first of the names nearest to a word, "" if none is within two
// edits.
func Word(word string, names []string) string {
	const most = 2
	best, cost := "", most+1
	for _, n := range names {
		if max(len(n)-len(word), len(word)-len(n)) > most {
			continue
		}
		if d := distance(word, n); d < cost {
			best, cost = n, d
		}
	}
	return best
}

// Fold removes the differences that people mistake most: case, dashes, underscores, dots.
func Fold(s string) string {
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
