package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
)

const (
	// fuseDepth is how deep each rank is read that is fused, at least, and fuseK
	// how little the first places of a rank differ.
	fuseDepth = 50
	fuseK     = 60
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

// keywords ranks by the words.
func (s *Store) keywords(ctx context.Context, sc Scope, q SearchQuery, among *choice) ([]Ranked, error) {
	ix, ok := s.engine.(KeywordRanker)
	terms := KeywordTerms(q.Text)
	if !ok || len(terms) == 0 {
		return nil, nil
	}
	if among != nil {
		q.Limit *= 2
	}
	ranked, err := ix.Keywords(ctx, sc, q, terms, among.list())
	return among.keep(ranked), err
}

// fuse makes one rank of several, by reciprocal rank fusion.
func fuse(ranks ...[]Ranked) []Ranked {
	scores := make(map[[2]string]float64)
	for _, ranked := range ranks {
		for place, r := range ranked {
			scores[[2]string{r.TenantID, r.ID}] += 1 / float64(fuseK+place+1)
		}
	}
	fused := make([]Ranked, 0, len(scores))
	for key, score := range scores {
		fused = append(fused, Ranked{key[0], key[1], score})
	}
	slices.SortFunc(fused, compareRanked)
	return fused
}

// compareRanked orders rows: the best first, then by id.
func compareRanked(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID), cmp.Compare(a.TenantID, b.TenantID))
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
