package store

import (
	"context"
	"slices"
	"strings"
	"unicode"
)

const (
	// KeywordText is how much of a row's text is indexed by its words, in
	// characters.
	KeywordText = 100_000
	// MaxTerms bounds the words of a question that count.
	MaxTerms = 32
	// maxTerm bounds a word, in bytes; a longer one is no word of any language.
	maxTerm = 100
)

// stopWords are the commonest words of English: nearly every text has them, so
// they cost the most and tell the least.
var stopWords = strings.Fields(`a about after all also an and any are as at be been but by can could did do does for from get had has have
	he her his how i if in into is it its just like me more my no not of on one or our out she so some tell than that the their
	them then there these they this to up us was we were what when where which who why will with would you your`)

// KeywordTerms are the words of a text for which a keyword search looks: runs of
// letters and digits in lower case, each once, in order, at most 32. The
// commonest words of English are left out unless there is no other.
func KeywordTerms(text string) []string {
	var terms, common []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}) {
		if len(word) > maxTerm {
			continue
		}
		list := &terms
		if slices.Contains(stopWords, word) {
			list = &common
		}
		if len(*list) < MaxTerms && !slices.Contains(*list, word) {
			*list = append(*list, word)
		}
	}
	if len(terms) == 0 {
		return common
	}
	return terms
}

// putText indexes what a row's keyword search finds it by: its name and its text.
func (s *Store) putText(ctx context.Context, c Conn, t IndexedText, name, text string) error {
	ix, ok := s.engine.(TextIndexer)
	if !ok {
		return nil
	}
	t.Text = clip(name+"\n"+text, KeywordText)
	return ix.PutText(ctx, c, t)
}

// dropText forgets it.
func (s *Store) dropText(ctx context.Context, c Conn, t IndexedText) error {
	ix, ok := s.engine.(TextIndexer)
	if !ok {
		return nil
	}
	return ix.DeleteText(ctx, c, t)
}

// clip keeps the first n characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
