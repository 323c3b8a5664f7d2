package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
)

const (
	// fuseDepth is how many rows of each ranking are fused at least. fuseK is the k of
	// reciprocal rank fusion: the greater it is, the less the first places differ.
	fuseDepth = 50
	fuseK     = 60
	// KeywordText bounds the indexed text of a row, in characters.
	KeywordText = 100_000
	// MaxTerms bounds the words of a question.
	MaxTerms = 32
	// maxTerm bounds a word, in bytes; longer ones are skipped.
	maxTerm = 100
)

// stopWords are the commonest words of English, which are in nearly every text.
var stopWords = strings.Fields(`a about after all also an and any are as at be been but by can could did do does for from get had has have
	he her his how i if in into is it its just like me more my no not of on one or our out she so some tell than that the their
	them then there these they this to up us was we were what when where which who why will with would you your`)

// KeywordTerms returns the words of a question for a keyword search: runs of letters and
// digits in lower case, each once, in order, at most 32. It skips the commonest words of
// English unless there are no others, and what no index holds: ½, an accent alone.
func KeywordTerms(text string) []string {
	var terms, common []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), notInWord) {
		if len(word) > maxTerm || !strings.ContainsFunc(word, inIndex) {
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

// inIndex reports whether a rune makes a word that every engine indexes.
func inIndex(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Nl, r)
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
	k, err := s.seals.of(ctx, sc.Tenant, false)
	if err != nil {
		return nil, err
	}
	ranked, err := ix.Keywords(ctx, sc, q, k.terms(terms), among.list())
	return among.keep(ranked), err
}

// fuse makes one rank of several, by reciprocal rank fusion.
func fuse(ranks ...[]Ranked) []Ranked {
	scores := make(map[Ranked]float64)
	for _, ranked := range ranks {
		for place, r := range ranked {
			scores[r.row()] += 1 / float64(fuseK+place+1)
		}
	}
	fused := make([]Ranked, 0, len(scores))
	for r, score := range scores {
		r.Score = score
		fused = append(fused, r)
	}
	slices.SortFunc(fused, compareRanked)
	return fused
}

// row returns the row without its score.
func (r Ranked) row() Ranked {
	r.Score = 0
	return r
}

// compareRanked orders rows: the best first, then by id.
func compareRanked(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID), cmp.Compare(a.TenantID, b.TenantID), cmp.Compare(a.query, b.query))
}

// putText indexes the words of a row's name, title and text.
func (s *Store) putText(ctx context.Context, c Conn, t IndexedText, e entry, text string) error {
	t.Text = clip(strings.Join(slices.Concat([]string{e.name}, titlesIn(e.metadata), []string{text}), "\n"), KeywordText)
	return s.putWords(ctx, c, t)
}

// putWords indexes the words of a text.
func (s *Store) putWords(ctx context.Context, c Conn, t IndexedText) error {
	ix, ok := s.engine.(TextIndexer)
	if !ok {
		return nil
	}
	if k := s.seals.peek(t.TenantID); k.seals() {
		t.Text = k.hide(t.Text)
	}
	return ix.PutText(ctx, c, t)
}

// dropText removes the words of a row from the index.
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
