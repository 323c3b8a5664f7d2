package routing

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxText and maxWords bound the part of a text that is read.
const (
	maxText  = 8 << 10
	maxWords = 1000
)

// words cuts a text into words as rules compare them: without case, accents and the plural's
// s. Scripts without spaces between words are cut into characters.
func words(text string) []string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	if !ascii(text) {
		text = norm.NFKD.String(cases.Fold().String(norm.NFKD.String(text)))
	}
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 && len(out) < maxWords {
			w := word.String()
			if !common(w) {
				w = singular(w)
			}
			out = append(out, w)
		}
		word.Reset()
	}
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’': // an accent; don't is one word
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end()
			word.WriteRune(r)
			end()
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			word.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return out
}

// singular removes the s of a plural, in messages and rules alike.
func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// common reports whether a word is too frequent to say anything about a text's subject.
func common(word string) bool {
	switch word {
	case "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does", "for",
		"from", "get", "give", "had", "has", "have", "he", "hello", "help", "her", "here", "hi", "his", "how", "i", "if", "im", "in", "is",
		"it", "its", "just", "let", "like", "make", "me", "my", "need", "no", "not", "now", "of", "on", "or", "our", "out", "please", "she",
		"should", "show", "so", "some", "tell", "thanks", "that", "the", "their", "them", "then", "there", "they", "this", "to", "up",
		"us", "want", "was", "we", "were", "what", "whats", "when", "where", "which", "who", "why", "will", "with", "would", "yes",
		"you", "your":
		return true
	}
	return false
}
