package title

import (
	"strings"
	"unicode"

	"github.com/p8-org/p8/store"
)

// maxTitle bounds a title, in characters.
const maxTitle = 60

// quotes are the characters that models put around titles. An apostrophe is left out only at
// the ends.
const (
	quotes      = "\"“”„‟«»「」『』`"
	apostrophes = "'‘’‚‹›"
)

// clean makes a title of a model's answer: one line without quotes, cut between two words
// if it is too long. It is "" if nothing can be seen in the answer.
func clean(said string) string {
	said = store.CleanTitle(strings.Map(func(r rune) rune {
		if strings.ContainsRune(quotes, r) {
			return -1
		}
		return r
	}, said))
	said = cut(strings.TrimSpace(strings.Trim(said, apostrophes)))
	if !strings.ContainsFunc(said, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) }) {
		return ""
	}
	return said
}

// cut is the beginning of a line.
func cut(line string) string {
	short := first(line, maxTitle)
	if len(short) == len(line) {
		return line
	}
	if i := strings.LastIndexByte(short, ' '); line[len(short)] != ' ' && i > len(short)/2 {
		short = short[:i]
	}
	return strings.TrimRight(short, " .,;:-–—")
}

// first is the beginning of a text, n characters at most.
func first(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
