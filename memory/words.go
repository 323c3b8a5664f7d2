package memory

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/arrange"
)

// stopwords.txt has the words of English and German that say nothing by themselves.
//
//go:embed stopwords.txt
var stopwordList string

// vocabulary counts the words of a conversation.
type vocabulary struct {
	stop  map[string]bool
	words map[string]*word
	order []string
	said  map[string]bool
	texts int
}

type word struct {
	count float64 // what users say counts twice
	texts int     // how many have it
	at    int     // its index
}

func newVocabulary() *vocabulary {
	v := &vocabulary{stop: map[string]bool{}, words: map[string]*word{}, said: map[string]bool{}}
	for _, w := range strings.Fields(stopwordList) {
		v.stop[w] = true
	}
	return v
}

// add counts a sentence's words and returns those that are no stop words. It does not
// count a repeated sentence.
func (v *vocabulary) add(text string, user bool) []string {
	words := slices.DeleteFunc(wordsOf(text), func(w string) bool { return v.stop[w] })
	key := strings.Join(words, " ")
	if v.said[key] {
		return words
	}
	v.said[key] = true
	v.texts++
	for i, w := range words {
		x := v.words[w]
		if x == nil {
			x = &word{at: len(v.order)}
			v.words[w] = x
			v.order = append(v.order, w)
		}
		if !slices.Contains(words[:i], w) {
			x.texts++
		}
		x.count++
		if user {
			x.count++
		}
	}
	return words
}

// rarity scores the words of a sentence from 0 to 3; rare words score more.
func (v *vocabulary) rarity(words []string) float64 {
	if len(words) == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range words {
		sum += math.Log(1 + float64(v.texts)/float64(v.words[w].texts))
	}
	return min(3, sum/float64(len(words)))
}

// topics returns at most 8 words that are frequent, but not in every text.
func (v *vocabulary) topics() []string {
	const (
		most  = 8
		least = 3
		part  = 0.3 // of the best one's weight
	)
	weigh := func(w string) float64 {
		x := v.words[w]
		return x.count * math.Log(1+float64(v.texts)/float64(x.texts))
	}
	var list []string
	for _, w := range v.order {
		if utf8.RuneCountInString(w) > 2 && strings.IndexFunc(w, unicode.IsLetter) == 0 || isCJK(w) && !strings.ContainsFunc(w, isParticle) {
			list = append(list, w)
		}
	}
	arrange.By(list, func(a, b string) int {
		switch x, y := weigh(a), weigh(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return v.words[a].at - v.words[b].at
	})
	n := 0
	for n < len(list) && n < most && (n < least || weigh(list[n]) >= part*weigh(list[0])) {
		n++
	}
	return slices.Clip(list[:n])
}

// wordsOf returns the words of a text in lower case. Scripts that write no blanks between
// them have a word for every two characters.
func wordsOf(text string) []string {
	const longest = 40
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-' && r != '\''
	}) {
		w = strings.Trim(w, "-'")
		switch n := utf8.RuneCountInString(w); {
		case n == 0:
		case isCJK(w) && n > 2:
			runes := []rune(w)
			for i := range runes[1:] {
				out = append(out, string(runes[i:i+2]))
			}
		case n <= longest:
			out = append(out, w)
		}
	}
	return out
}

// isCJK reports whether a word is of a script without blanks.
func isCJK(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// isParticle reports whether a letter is hiragana, in which Japanese writes endings.
func isParticle(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

// cleanTopics returns the topics in their stored form.
func cleanTopics(topics []string) []string {
	const (
		most    = 8
		longest = 64
	)
	var out []string
	for _, t := range topics {
		t = clip(strings.Trim(oneLine(strings.ToLower(t)), "#, "), longest)
		if t != "" && !slices.Contains(out, t) && len(out) < most {
			out = append(out, t)
		}
	}
	return out
}
