package tokens

import (
	"strings"
	"sync"
)

// byRank has the tokens in the order of their ranks.
var byRank = sync.OnceValue(func() []string {
	tokens := make([]string, vocabularySize)
	for token, rank := range vocabulary() {
		tokens[rank] = token
	}
	return tokens
})

// Decode returns the text of tokens; ok is false if the vocabulary lacks one of them. The
// text may not be valid UTF-8.
func Decode(ids []int) (text string, ok bool) {
	tokens := byRank()
	var b strings.Builder
	for _, id := range ids {
		if id < 0 || id >= len(tokens) {
			return "", false
		}
		b.WriteString(tokens[id])
	}
	return b.String(), true
}
