package ask

import (
	"slices"
	"strings"
	"unicode"
)

// words are a sentence split at its spaces, without punctuation around the words: as
// written, and in lower case.
type words struct{ written, low []string }

func newWords(text string) words {
	var w words
	for _, field := range strings.Fields(text) {
		word := strings.TrimFunc(strings.ReplaceAll(field, "’", "'"), func(r rune) bool {
			return unicode.IsPunct(r) && r != '-' && r != '_' || unicode.IsSymbol(r)
		})
		low := strings.ToLower(word)
		if word == "" {
			continue
		}
		if is, ok := strings.CutSuffix(low, "'s"); ok && slices.Contains([]string{"what", "who", "where", "how", "that", "it"}, is) {
			w.written = append(w.written, word[:len(word)-2], "is")
			w.low = append(w.low, is, "is")
			continue
		}
		w.written, w.low = append(w.written, word), append(w.low, low)
	}
	return w
}

func (w words) len() int { return len(w.low) }

// slice returns the words from start to end.
func (w words) slice(start, end int) words { return words{w.written[start:end], w.low[start:end]} }

// without returns w without the words from start to end.
func (w words) without(start, end int) words {
	return words{slices.Concat(w.written[:start], w.written[end:]), slices.Concat(w.low[:start], w.low[end:])}
}

// text returns the words as written.
func (w words) text() string { return strings.Join(w.written, " ") }

// begins removes the longest matching phrase from the front; phrases are separated by
// "|".
func (w words) begins(phrases string) (words, bool) {
	best := 0
	for phrase := range strings.SplitSeq(phrases, "|") {
		p := strings.Fields(phrase)
		if len(p) > best && len(p) <= w.len() && slices.Equal(p, w.low[:len(p)]) {
			best = len(p)
		}
	}
	return w.slice(best, w.len()), best > 0
}

// ends removes a phrase from the end.
func (w words) ends(phrases string) (words, bool) {
	for phrase := range strings.SplitSeq(phrases, "|") {
		p := strings.Fields(phrase)
		if at := w.len() - len(p); at >= 0 && slices.Equal(p, w.low[at:]) {
			return w.slice(0, at), true
		}
	}
	return w, false
}

// cut splits w around the first phrase that it contains.
func (w words) cut(phrases string) (before, after words, found bool) {
	for i := range w.low {
		if rest, ok := w.slice(i, w.len()).begins(phrases); ok {
			return w.slice(0, i), rest, true
		}
	}
	return w, words{}, false
}

// bare returns w without articles and courtesies at its ends.
func (w words) bare() words {
	for {
		next, a := w.begins("the|a|an|our|my|your|some|any|all|all of|every|of|me")
		next, b := next.ends("please|for me|now|again|then|thanks|there")
		if !a && !b {
			return w
		}
		w = next
	}
}

// asked returns w without introductory phrases.
func (w words) asked() words {
	for {
		next, a := w.begins("please|hey|hi|ok|okay|so|could you|can you|would you|will you|can i|could i|may i|i want to|i need to|i would like to|i'd like to|let me|kindly")
		next, b := next.ends("please|for me|thanks|thank you")
		if !a && !b {
			return w
		}
		w = next
	}
}
