// Package trgm measures how alike two texts are, as PostgreSQL's pg_trgm does,
// and keeps an index that finds the texts most like one in memory.
//
// A text is lower-cased and cut into words of letters and digits; a word is
// padded with two spaces before and one behind, and every three characters in a
// row are a trigram. The similarity of two texts is the share of their trigrams
// that they have in common; the word similarity is the same for the first text
// and the best matching stretch of the second. [Index] ranks by both.
package trgm

import (
	"slices"
	"unicode"
)

// trigram is three characters, 21 bits each.
type trigram uint64

// isWord reports whether pg_trgm counts a character as part of a word in a UTF-8 locale.
func isWord(r rune) bool {
	if r < 0x80 {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.Nd, unicode.Nl, unicode.Other_Alphabetic)
}

// appendTrigrams appends the trigrams of a text in order, repeated ones too.
func appendTrigrams(list []trigram, text string) []trigram {
	const blank = trigram(' ')<<21 | ' '
	window, inside := blank, false
	push := func(r rune) {
		window = (window<<21 | trigram(r)) & (1<<63 - 1)
		list = append(list, window)
	}
	for _, r := range text {
		if isWord(r) {
			push(unicode.ToLower(r))
			inside = true
		} else if inside {
			push(' ')
			window, inside = blank, false
		}
	}
	if inside {
		push(' ')
	}
	return list
}

// set returns the trigrams of a text, sorted, each once.
func set(text string) []trigram {
	list := appendTrigrams(make([]trigram, 0, len(text)+2), text)
	slices.Sort(list)
	return slices.Compact(list)
}

// ratio returns pg_trgm's similarity of two sets: the intersection divided by the union.
func ratio(shared, a, b int) float64 {
	if shared == 0 {
		return 0
	}
	return float64(shared) / float64(a+b-shared)
}
