package rem

import (
	"context"
	"slices"
	"strings"

	"github.com/p8-org/p8/store"
)

func (e *Engine) search(ctx context.Context, q Search, res *Result) error {
	asks, err := e.searchQueries(q, res)
	if err != nil {
		return err
	}
	res.Text, res.Table = q.Text, strings.Join(tablesOf(asks), tableComma)
	if err := e.embed(ctx, asks, res); err != nil {
		return err
	}
	matches, err := e.Knowledge.Search(ctx, asks...)
	if err != nil {
		return err
	}
	if asks[0].Hybrid && asks[0].Vector != nil {
		res.note("Found by meaning and by words: the scores are those of a rank fusion, which compare only with each other.")
	}
	res.Results = rowsOf(matches)
	if len(asks) > 1 {
		for i, m := range matches {
			res.Results[i].Table = m.Table
		}
	}
	if !q.Load {
		for i := range res.Results {
			res.Results[i].Data = brief(res.Results[i].Data, res.Results[i].Key)
			// The summary is the beginning of the text in Data.
			res.Results[i].Summary = ""
		}
	}
	return nil
}

// searchQueries returns the store's form of a query, one for each table, without the vector.
func (e *Engine) searchQueries(q Search, res *Result) (asks []store.SearchQuery, err error) {
	tables := q.Tables
	if len(tables) == 0 {
		tables = []string{DefaultTable}
	}
	for _, table := range tables {
		ask, err := e.searchQuery(q, table, res)
		if err != nil {
			return nil, err
		}
		asks = append(asks, ask)
	}
	return asks, nil
}

func tablesOf(asks []store.SearchQuery) (names []string) {
	for _, ask := range asks {
		names = append(names, ask.Table)
	}
	return names
}

// searchQuery returns the store's form of a query for one of its tables.
func (e *Engine) searchQuery(q Search, name string, res *Result) (store.SearchQuery, error) {
	ask := store.SearchQuery{
		Table: name, Field: q.Field, Text: q.Text, Hybrid: q.Hybrid || e.Hybrid,
		Category: q.Category, Where: q.Where, MinSimilarity: e.leastSimilarity(q), Limit: limited(q.Limit, DefaultLimit),
	}
	i := slices.IndexFunc(e.tables, func(t store.TableInfo) bool { return t.Name == ask.Table })
	if i < 0 {
		// The store reports the unknown table.
		return ask, nil
	}
	table := e.tables[i]
	switch {
	case table.EmbeddingField == "":
		var can []string
		for _, t := range e.tables {
			if t.EmbeddingField != "" {
				can = append(can, t.Name)
			}
		}
		return ask, withForm(searchForm, problemf(0,
			"the rows of %s have no vectors; SEARCH reads %s, SQL reads every table (quote a text that ends with the name of a table)", table.Name, and(can)))
	case ask.Field != "" && ask.Field != table.EmbeddingField:
		return ask, withForm(searchForm, problemf(0, "the field %.60q of %s has no vectors; %s has", ask.Field, table.Name, table.EmbeddingField))
	}
	if ask.Category != "" && !slices.ContainsFunc(table.Columns, func(c store.ColumnInfo) bool { return c.Name == "category" }) {
		ask.Category = ""
		res.note("The rows of " + table.Name + " have no category, so CATEGORY left none out.")
	}
	return ask, nil
}

// embed adds the vector of the text, the same for every table. If that fails, the search
// goes on with words alone.
func (e *Engine) embed(ctx context.Context, asks []store.SearchQuery, res *Result) error {
	byWords := func() {
		for i := range asks {
			asks[i].Hybrid = true
		}
	}
	if e.Embedder == nil {
		byWords()
		res.note("Ranked by words alone: no embedding model is configured.")
		return nil
	}
	// The rest of the time is for the search by words.
	half, cancel := context.WithTimeout(ctx, e.Timeout/2)
	defer cancel()
	vector, err := e.Embedder.EmbedQuery(half, asks[0].Text)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		e.Logger.WarnContext(ctx, "embed a search", "model", e.Embedder.Name(), "error", err)
		byWords()
		res.note("Ranked by words alone: the embedding model did not answer.")
		return nil
	}
	for i := range asks {
		asks[i].Model, asks[i].Vector = e.Embedder.Name(), vector
	}
	return nil
}

// leastSimilarity returns the bound of a SEARCH.
func (e *Engine) leastSimilarity(q Search) float64 {
	switch {
	case q.MinSimilarity != nil:
		return *q.MinSimilarity
	case e.Embedder == nil:
		return 0 // a search by words has no bound
	case e.MinSimilarity != nil:
		return *e.MinSimilarity
	}
	return e.Embedder.MinSimilarity()
}

// and joins words as a sentence does.
func and(words []string) string {
	s := ""
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			s += " and "
		case i > 0:
			s += ", "
		}
		s += w
	}
	return s
}
