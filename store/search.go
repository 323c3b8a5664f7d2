package store

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// Search finds the rows of a table that are nearest to a question, the best
// first: whole rows in Data, with the cosine similarity as their Score. Where and
// Category choose the rows before they are ranked. A Hybrid search ranks by the
// words of Text as well, by them alone when there is no Vector, and its Score is
// that of the fusion: 1/61 for the first of one rank, 2/61 at most.
//
// The rows are those that the caller may read: its own, its tenant's shared ones,
// the system's; of moments its own only.
func (s *Store) Search(ctx context.Context, q SearchQuery) (found []Match, err error) {
	err = s.shared(ctx, func(ctx context.Context) error {
		found, err = s.searchOnce(ctx, q)
		return err
	})
	return found, err
}

func (s *Store) searchOnce(ctx context.Context, q SearchQuery) ([]Match, error) {
	if q.Table == ManualTable {
		ctx, q.Table = InManual(ctx), resources.Name
	}
	t, err := q.check()
	if err != nil {
		return nil, missingFirst(ctx, err)
	}
	caller, err := callerOf(ctx)
	if err != nil {
		return nil, err
	}
	sc, limit := Scope{caller.TenantID, caller.UserID}, q.Limit
	var among *choice
	if q.Where != "" {
		if among, err = s.where(ctx, sc, t, q.Where); err != nil || len(among.ids) == 0 {
			return nil, err
		}
	}
	if q.Hybrid {
		q.Limit = max(fuseDepth, limit)
	}
	var ranked []Ranked
	if len(q.Vector) > 0 {
		if ranked, err = s.nearest(ctx, sc, q, among); err != nil {
			return nil, fail("search", err)
		}
	}
	if q.Hybrid {
		words, err := s.keywords(ctx, sc, q, among)
		if err != nil {
			return nil, fail("search", err)
		}
		ranked = fuse(ranked, words)
	}
	return s.matches(ctx, t, ranked[:min(limit, len(ranked))])
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
func (s *Store) matches(ctx context.Context, t *table, ranked []Ranked) ([]Match, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	ids := make([]string, len(ranked))
	for i, r := range ranked {
		ids[i] = r.ID
	}
	rows := make(map[[2]string]Match, len(ranked))
	err := s.read(ctx, "search", func(c Conn, by caller) error {
		q, _ := t.visibleOf(s.dialect, by, ids)
		return t.readJSON(ctx, c, q, func(tenant string, rec record, data json.RawMessage) {
			at, e := rec.place(), rec.entry()
			rows[[2]string{tenant, *at.id}] = Match{
				Key: NormalizeKey(e.name), Type: t.Type, ID: *at.id, Summary: summarize(e.summary),
				Data: data, Own: *at.user != "",
			}
		})
	})
	if err != nil {
		return nil, err
	}
	found := make([]Match, 0, len(ranked))
	for _, r := range ranked {
		if m, ok := rows[[2]string{r.TenantID, r.ID}]; ok {
			m.Score = r.Score
			found = append(found, m)
		}
	}
	return found, nil
}
