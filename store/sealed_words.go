package store

import (
	"encoding/base32"
	"strings"

	"github.com/p8-org/p8/store/internal/stem"
)

// Term is a word of a question. Token is what the index of words has in its place for the texts
// of an encrypted tenant, "" if the caller's tenant has none. A row that has either has the term.
type Term struct{ Word, Token string }

// terms returns words as terms.
func (k *tenantSeal) terms(words []string) []Term {
	list := make([]Term, len(words))
	for i, w := range words {
		list[i].Word = w
	}
	if k != nil {
		token := k.tokens()
		for i := range list {
			list[i].Token = token(list[i].Word)
		}
	}
	return list
}

// hide replaces each word of a text by a token, which no one without the key can make: an index
// finds the same texts, and learns which texts have a word in common.
func (k *tenantSeal) hide(text string) string {
	token := k.tokens()
	known := make(map[string]string)
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), notInWord) {
		if len(word) > maxTerm {
			continue
		}
		t, ok := known[word]
		if !ok {
			t = token(word)
			known[word] = t
		}
		b.WriteString(t)
		b.WriteByte(' ')
	}
	return b.String()
}

// tokens returns a function that makes the token of a word in lower case. No index takes the
// ending of a token for that of a word, as it is a digit.
func (k *tenantSeal) tokens() func(word string) string {
	digest := k.key.Digest()
	lower := base32.HexEncoding.WithPadding(base32.NoPadding)
	return func(word string) string {
		sum := digest("word\n" + stem.Stem(unaccented(word)))
		return "k" + strings.ToLower(lower.EncodeToString(sum[:6])) + "0"
	}
}
