package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
)

// Search finds the rows of a table that are nearest to a question, the best
// first: whole rows in Data, with the cosine similarity as their Score. Where and
// Category choose the rows before they are ranked. A Hybrid search ranks by the
// words of Text as well, by them alone when there is no Vector, and its Score is
// that of the fusion: 1/61 for the first of one rank, 2/61 at most.
//
// A row whose title Text names comes first, with the Score 1: at most half of the
// answer, rounded up. MinSimilarity does not apply to it.
//
// Several queries with one Text and Vector ask several tables, and their rows become
// one rank. Limit and Hybrid are those of the first query.
//
// The rows are those that the caller may read: its own, its tenant's shared ones,
// the system's; of moments its own only.
func (s *Store) Search(ctx context.Context, queries ...SearchQuery) (found []Match, err error) {
	err = s.shared(ctx, func(ctx context.Context) error {
		found, err = s.searchOnce(ctx, queries)
		return err
	})
	return found, err
}

// tableSearch is the search of one table.
type tableSearch struct {
	SearchQuery
	// named is the table's name in the query; manual is true for p8's manual.
	named  string
	manual bool
	table  *table
	scope  Scope
	// among are the rows that match Where, nil for all.
	among *choice
}

// in returns the context in which the rows of the table are read.
func (x *tableSearch) in(ctx context.Context) context.Context {
	if x.manual {
		return InManual(ctx)
	}
	return ctx
}

func (s *Store) searchOnce(ctx context.Context, queries []SearchQuery) ([]Match, error) {
	if len(queries) == 0 {
		return nil, missingFirst(ctx, invalidf("a search needs a table"))
	}
	var all []*tableSearch
	for _, q := range queries {
		x, err := s.newTableSearch(ctx, q)
		if wrong := (*SelectError)(nil); len(queries) > 1 && errors.As(err, &wrong) {
			err = &SelectError{Position: wrong.Position, Problem: "in " + q.Table + ", " + wrong.Problem}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	limit, hybrid := all[0].Limit, all[0].Hybrid
	var near, words []Ranked
	for i, x := range all {
		if x.among != nil && len(x.among.ids) == 0 {
			continue
		}
		if x.Limit = limit; hybrid {
			x.Limit = max(fuseDepth, limit)
		}
		if len(x.Vector) > 0 {
			ranked, err := s.nearest(ctx, x.scope, x.SearchQuery, x.among)
			if err != nil {
				return nil, fail("search", err)
			}
			near = append(near, foundBy(i, ranked)...)
		}
		if hybrid {
			ranked, err := s.keywords(ctx, x.scope, x.SearchQuery, x.among)
			if err != nil {
				return nil, fail("search", err)
			}
			words = append(words, foundBy(i, ranked)...)
		}
	}
	arrange.By(near, byScore)
	arrange.By(words, byScore)
	ranked := near
	if hybrid {
		ranked = fuse(near, words)
	}
	ranked, err := s.titlesFirst(ctx, all, ranked, limit)
	if err != nil {
		return nil, fail("search", err)
	}
	return s.matches(ctx, all, ranked[:min(limit, len(ranked))])
}

// byScore orders rows, the best first.
func byScore(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) }

// foundBy sets the query that found the rows.
func foundBy(query int, ranked []Ranked) []Ranked {
	for i := range ranked {
		ranked[i].query = query
	}
	return ranked
}

// newTableSearch checks a query and chooses the rows of its Where.
func (s *Store) newTableSearch(ctx context.Context, q SearchQuery) (*tableSearch, error) {
	x := &tableSearch{SearchQuery: q, named: cmp.Or(q.Table, resources.Name), manual: q.Table == ManualTable}
	if x.manual {
		x.Table = resources.Name
	}
	var err error
	if x.table, err = x.check(); err != nil {
		return nil, missingFirst(ctx, err)
	}
	by, err := callerOf(x.in(ctx))
	if err != nil {
		return nil, err
	}
	x.scope = by.scope()
	if x.Where != "" {
		x.among, err = s.where(ctx, x.scope, x.table, x.Where)
	}
	return x, err
}

// check sets the defaults and returns ErrInvalid for a query without an answer.
func (q *SearchQuery) check() (*table, error) {
	q.Table = cmp.Or(q.Table, "resources")
	t := tableNamed(q.Table)
	if t == nil || t.EmbeddingField == "" {
		var names []string
		for _, t := range tables {
			if t.EmbeddingField != "" {
				names = append(names, t.Name)
			}
		}
		return nil, invalidf("the table %.64q cannot be searched; %s can", q.Table, strings.Join(names, ", "))
	}
	if q.Field = cmp.Or(q.Field, t.EmbeddingField); q.Field != t.EmbeddingField {
		return nil, invalidf("the field %.64q of %s has no vectors; %s has", q.Field, q.Table, t.EmbeddingField)
	}
	if q.Category != "" && !hasCategory(t) {
		return nil, invalidf("%s have no category", q.Table)
	}
	if err := cleanTexts("category", &q.Category, "text", &q.Text); err != nil {
		return nil, err
	}
	q.Text = clip(q.Text, maxQuestion)
	if !(q.MinSimilarity >= -1 && q.MinSimilarity <= 1) {
		return nil, invalidf("the least similarity must be between -1 and 1")
	}
	q.Limit = page(q.Limit, DefaultLimit, maxSearch)
	if len(q.Vector) == 0 && q.Hybrid {
		return t, nil
	}
	return t, q.checkVector()
}

// matches reads the ranked rows, except those deleted since.
func (s *Store) matches(ctx context.Context, all []*tableSearch, ranked []Ranked) ([]Match, error) {
	rows := make(map[Ranked]Match, len(ranked))
	for i, x := range all {
		ids := idsOf(i, ranked)
		if len(ids) == 0 {
			continue
		}
		if err := s.read(x.in(ctx), "search", func(c Conn, by caller) error {
			q, _ := x.table.visibleOf(s.dialect, by, ids)
			return x.table.readJSON(ctx, c, q, func(tenant string, rec record, data json.RawMessage) {
				at, e := rec.place(), rec.entry()
				rows[Ranked{TenantID: tenant, ID: *at.id, query: i}] = Match{
					Key: NormalizeKey(e.name), Type: x.table.Type, ID: *at.id, Summary: summarize(e.summary),
					Table: x.named, Data: data, Own: *at.user != "",
				}
			})
		}); err != nil {
			return nil, err
		}
	}
	var found []Match
	for _, r := range ranked {
		if m, ok := rows[r.row()]; ok {
			m.Score = r.Score
			found = append(found, m)
		}
	}
	return found, nil
}

// idsOf returns the ids of the rows that a query found.
func idsOf(query int, ranked []Ranked) (ids []string) {
	for _, r := range ranked {
		if r.query == query {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
