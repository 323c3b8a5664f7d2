package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/store/internal/vector"
)

// The bounds of SEARCH.
const (
	maxSearch = 200
	// maxDimensions bounds a vector; whole-number arithmetic holds beyond it.
	maxDimensions = 8000
	// maxQuestion is how much of a text counts, in characters.
	maxQuestion = 10_000
	// maxWhere is how many rows a Where may leave.
	maxWhere     = 50_000
	whereTimeout = 5 * time.Second
)

// SearchQuery asks for the rows of a table whose texts are nearest to a vector.
type SearchQuery struct {
	// Table is a table that has an embedding field, "" is resources.
	Table string
	// Field is the embedded column; "" is the table's.
	Field string
	// Model made the vector; vectors of another model are never compared.
	Model  string
	Vector []float32
	// Text is what was asked; a Hybrid search ranks by its words too, and fuses
	// the two ranks (reciprocal rank fusion, k = 60; Cormack et al. 2009).
	Text   string
	Hybrid bool
	// MinSimilarity is the least cosine similarity; 0 is no bound. It does not
	// bind what a Hybrid search found by its words.
	MinSimilarity float64
	// Category, where the table has that column.
	Category string
	// Where is a condition of the caller in SQL, under the rules of Select.
	Where string
	// Limit is the most rows, 0 for 10; at most 200.
	Limit int
}

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
	t, err := q.check()
	if err != nil {
		return nil, missingFirst(ctx, err)
	}
	caller, err := scopeOf(ctx)
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

// check sets the defaults and refuses what has no answer.
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

func hasCategory(t *table) bool {
	return slices.ContainsFunc(t.columns, func(c ColumnInfo) bool { return c.Name == "category" })
}

// choice are the rows that a Where leaves: their ids for the engine, and which
// row of an id it is, for the tenant's and the system's may have the same.
type choice struct {
	ids  []string
	rows map[[2]string]bool
}

func (among *choice) list() []string {
	if among == nil {
		return nil
	}
	return among.ids
}

// of are the ids of a tenant's rows; nil is any.
func (among *choice) of(tenant string) []vector.ID {
	if among == nil {
		return nil
	}
	list := []vector.ID{}
	for _, id := range among.ids {
		if v, ok := vectorID(id); ok && among.rows[[2]string{tenant, id}] {
			list = append(list, v)
		}
	}
	return list
}

// keep removes the rows that were not chosen.
func (among *choice) keep(ranked []Ranked) []Ranked {
	if among == nil {
		return ranked
	}
	return slices.DeleteFunc(ranked, func(r Ranked) bool { return !among.rows[[2]string{r.TenantID, r.ID}] })
}

// where resolves a caller's condition by a SELECT under all its rules.
func (s *Store) where(ctx context.Context, sc Scope, t *table, where string) (*choice, error) {
	before := "SELECT tenant_id, id FROM " + t.Name + " WHERE ("
	found, err := s.engine.Select(ctx, sc, before+where+"\n)", SelectBounds{Rows: maxWhere + 1, Bytes: 128 * maxWhere, Timeout: whereTimeout})
	if wrong := (*SelectError)(nil); errors.As(err, &wrong) {
		at := wrong.Position - utf8.RuneCountInString(before)
		if at < 1 || at > utf8.RuneCountInString(where) {
			at = 0
		}
		return nil, &SelectError{Position: at, Problem: wrong.Problem}
	}
	if err != nil {
		return nil, err
	}
	if found.Truncated || len(found.Rows) > maxWhere {
		return nil, invalidf("the condition of a search may leave %d rows at most: make it narrower, or search without it", maxWhere)
	}
	among := &choice{ids: make([]string, 0, len(found.Rows)), rows: make(map[[2]string]bool, len(found.Rows))}
	for _, row := range found.Rows {
		if len(row) != 2 {
			continue
		}
		tenant, _ := row[0].(string)
		id, _ := row[1].(string)
		if key := [2]string{tenant, id}; !among.rows[key] {
			among.rows[key] = true
			among.ids = append(among.ids, id)
		}
	}
	return among, nil
}

// matches reads the rows that were ranked; one that is gone meanwhile is left out.
func (s *Store) matches(ctx context.Context, t *table, ranked []Ranked) ([]Match, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	ids := make([]string, len(ranked))
	for i, r := range ranked {
		ids[i] = r.ID
	}
	rows := make(map[[2]string]Match, len(ranked))
	err := s.read(ctx, "search", func(c Conn, sc scope) error {
		q, _ := t.visibleOf(s.dialect, sc, ids)
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

// Selection is the result of a SELECT that a caller wrote.
type Selection struct {
	Columns []string `json:"columns"`
	// Rows hold nil, bool, int64, float64, string and json.RawMessage; times are
	// RFC 3339 in UTC.
	Rows [][]any `json:"rows"`
	// Truncated says that a bound (rows, bytes) cut the result.
	Truncated bool `json:"truncated,omitempty"`
}

// SelectError says what is wrong with a SELECT. It is fit for a model and a
// client.
type SelectError struct {
	// Position is the place in the text, in characters from 1; 0 is unknown.
	Position int
	Problem  string
}

// Error is the problem.
func (e *SelectError) Error() string { return e.Problem }
