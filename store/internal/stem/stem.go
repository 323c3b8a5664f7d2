// Package stem removes the endings of English words, as the indexes of words do: Porter's
// algorithm (1980). Words with other letters than a to z stay as they are.
package stem

import "strings"

// Stem returns the stem of a word in lower case.
func Stem(word string) string {
	if len(word) < 3 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	w := plural(word)
	w = past(w)
	if stem, ok := strings.CutSuffix(w, "y"); ok && hasVowel(stem) {
		w = stem + "i"
	}
	w = replace(w, doubled, 0)
	w = replace(w, shortened, 0)
	w = drop(w)
	return end(w)
}

// ending is a suffix and what replaces it.
type ending struct{ from, to string }

// The endings of steps 2 and 3; of two that fit, the longer one comes first.
var (
	doubled = []ending{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"}, {"alli", "al"},
		{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"},
		{"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
	}
	shortened = []ending{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}
	dropped   = []string{"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic", "ou"}
)

// plural is step 1a.
func plural(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

// past is step 1b.
func past(w string) string {
	if stem, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(stem) > 0 {
			return stem + "ee"
		}
		return w
	}
	stem, ok := strings.CutSuffix(w, "ed")
	if !ok {
		stem, ok = strings.CutSuffix(w, "ing")
	}
	if !ok || !hasVowel(stem) {
		return w
	}
	n := len(stem)
	switch {
	case strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "bl"), strings.HasSuffix(stem, "iz"):
		return stem + "e"
	case twice(stem) && !strings.ContainsRune("lsz", rune(stem[n-1])):
		return stem[:n-1]
	case measure(stem) == 1 && short(stem):
		return stem + "e"
	}
	return stem
}

// replace replaces the ending of a word whose rest has a measure above the least.
func replace(w string, endings []ending, least int) string {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(w, e.from); ok {
			if measure(stem) > least {
				return stem + e.to
			}
			return w
		}
	}
	return w
}

// drop is step 4.
func drop(w string) string {
	for _, e := range dropped {
		if stem, ok := strings.CutSuffix(w, e); ok {
			if measure(stem) > 1 && (e != "ion" || strings.HasSuffix(stem, "s") || strings.HasSuffix(stem, "t")) {
				return stem
			}
			return w
		}
	}
	return w
}

// end is step 5.
func end(w string) string {
	if stem, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(stem); m > 1 || m == 1 && !short(stem) {
			w = stem
		}
	}
	if strings.HasSuffix(w, "ll") && measure(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// vowel reports whether the letter at i sounds as a vowel.
func vowel(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !vowel(w, i-1)
	}
	return false
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if vowel(w, i) {
			return true
		}
	}
	return false
}

// measure counts the vowels that a consonant follows.
func measure(w string) (n int) {
	before := false
	for i := range len(w) {
		v := vowel(w, i)
		if before && !v {
			n++
		}
		before = v
	}
	return n
}

// twice reports whether a word ends with two equal consonants.
func twice(w string) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && !vowel(w, n-1)
}

// short reports whether a word ends with consonant, vowel, consonant, the last not w, x or y.
func short(w string) bool {
	n := len(w)
	return n > 2 && !vowel(w, n-3) && vowel(w, n-2) && !vowel(w, n-1) && !strings.ContainsRune("wxy", rune(w[n-1]))
}
