package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/store"
)

// PutText implements store.TextIndexer.
func (e *engine) PutText(ctx context.Context, c store.Conn, t store.IndexedText) error {
	number, err := keywordNumber(ctx, c, t)
	if err != nil {
		return err
	}
	if number != 0 {
		_, err := c.Exec(ctx, `UPDATE keywords SET text = $2 WHERE rowid = $1`, number, t.Text)
		return err
	}
	if err := c.Query(ctx, `INSERT INTO keyword_scopes (tenant_id, table_name, owner, given) VALUES ($1, $2, $3, 1)
		ON CONFLICT (tenant_id, table_name, owner) DO UPDATE SET given = given + 1 RETURNING id << 32 | given`,
		func(r store.Row) error { return r.Scan(&number) }, t.TenantID, t.Table, t.Owner); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `INSERT INTO keyword_rows (tenant_id, number, table_name, entity_id) VALUES ($1, $2, $3, $4)`,
		t.TenantID, number, t.Table, t.ID); err != nil {
		return err
	}
	_, err = c.Exec(ctx, `INSERT INTO keywords (rowid, text) VALUES ($1, $2)`, number, t.Text)
	return err
}

// DeleteText implements store.TextIndexer.
func (e *engine) DeleteText(ctx context.Context, c store.Conn, t store.IndexedText) error {
	number, err := keywordNumber(ctx, c, t)
	if err != nil || number == 0 {
		return err
	}
	if _, err := c.Exec(ctx, `DELETE FROM keywords WHERE rowid = $1`, number); err != nil {
		return err
	}
	_, err = c.Exec(ctx, `DELETE FROM keyword_rows WHERE tenant_id = $1 AND number = $2`, t.TenantID, number)
	return err
}

// DeleteTexts implements store.TextIndexer.
func (e *engine) DeleteTexts(ctx context.Context, c store.Conn, tenant, table string, ids []string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	const rows = ` FROM keyword_rows WHERE tenant_id = $1 AND table_name = $2 AND entity_id IN (SELECT value FROM json_each($3))`
	for _, sql := range []string{`DELETE FROM keywords WHERE rowid IN (SELECT number` + rows + `)`, `DELETE` + rows} {
		if _, err := c.Exec(ctx, sql, tenant, table, json.RawMessage(list)); err != nil {
			return err
		}
	}
	return nil
}

// DropTexts implements store.TextIndexer.
func (e *engine) DropTexts(ctx context.Context, c store.Conn, owner store.RowOwner) error {
	var scopes []int64
	if err := c.Query(ctx, `SELECT id FROM keyword_scopes WHERE tenant_id = $1 AND owner = $2`, func(r store.Row) error {
		var id int64
		err := r.Scan(&id)
		scopes = append(scopes, id)
		return err
	}, owner.TenantID, owner.UserID); err != nil {
		return err
	}
	for _, scope := range scopes {
		const numbers = ` BETWEEN $1 << 32 AND $1 + 1 << 32`
		for _, sql := range []string{
			`DELETE FROM keywords WHERE rowid IN (SELECT number FROM keyword_rows WHERE number` + numbers + `)`,
			`DELETE FROM keyword_rows WHERE number` + numbers,
			`DELETE FROM keyword_scopes WHERE id = $1`,
		} {
			if _, err := c.Exec(ctx, sql, scope); err != nil {
				return err
			}
		}
	}
	return nil
}

// keywordNumber returns the number under which a row's text is indexed, 0 if it is not indexed.
func keywordNumber(ctx context.Context, c store.Conn, t store.IndexedText) (number int64, err error) {
	err = c.Query(ctx, `SELECT number FROM keyword_rows WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3`,
		func(r store.Row) error { return r.Scan(&number) }, t.TenantID, t.Table, t.ID)
	return number, err
}

// A word in commonRows or more visible texts is common. Rows that hold no rarer word of a
// question are not searched: they would come last, and cost the most.
const commonRows = 2000

// Keywords implements store.KeywordRanker: a word counts by its rarity among the
// visible rows, and by how often it occurs in how long a text.
func (e *engine) Keywords(ctx context.Context, sc store.Scope, q store.SearchQuery, terms []store.Term, ids []string) ([]store.Ranked, error) {
	var found []store.Ranked
	err := e.Read(ctx, sc, func(c store.Conn) error {
		scopes, err := keywordScopes(ctx, c, sc, q.Table)
		if err != nil {
			return err
		}
		s, err := weigh(ctx, c, scopes, terms)
		if err != nil || len(s.terms) == 0 {
			return err
		}
		for _, scope := range scopes {
			if err := s.search(ctx, c, scope, q, ids, &found); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b store.Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID), cmp.Compare(a.TenantID, b.TenantID))
	})
	return found[:min(len(found), q.Limit)], err
}

// keywordScope is the number under which the texts of a table and an owner are indexed.
type keywordScope struct {
	id     int64
	tenant string
}

// keywordScopes returns the visible scopes that have texts.
func keywordScopes(ctx context.Context, c store.Conn, sc store.Scope, table string) ([]keywordScope, error) {
	var list []keywordScope
	for _, owner := range sc.Reads(table) {
		if err := c.Query(ctx, `SELECT id FROM keyword_scopes WHERE tenant_id = $1 AND table_name = $2 AND owner = $3`,
			func(r store.Row) error {
				x := keywordScope{tenant: owner.TenantID}
				err := r.Scan(&x.id)
				list = append(list, x)
				return err
			}, owner.TenantID, table, owner.UserID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// within is the condition of the texts of the scope $1: one range of numbers, so
// that those of others cost nothing.
const within = `rowid BETWEEN $1 << 32 AND $1 + 1 << 32`

// weighed are terms with their weights.
type weighed struct {
	terms   []store.Term
	weights []float64
}

// weigh weighs the terms by how few visible texts hold them, and leaves out the
// common ones unless all are.
func weigh(ctx context.Context, c store.Conn, scopes []keywordScope, terms []store.Term) (weighed, error) {
	var some, all weighed
	for _, t := range terms {
		texts := 0
		for _, scope := range scopes {
			if err := c.Query(ctx, `SELECT count(*) FROM (SELECT 1 FROM keywords WHERE keywords MATCH $2 AND `+within+` LIMIT $3)`,
				func(r store.Row) error {
					var n int
					err := r.Scan(&n)
					texts += n
					return err
				}, scope.id, match([]store.Term{t}), commonRows-texts); err != nil {
				return weighed{}, err
			}
		}
		if texts == 0 {
			continue
		}
		w := math.Log1p(4 * commonRows / float64(texts))
		all.terms, all.weights = append(all.terms, t), append(all.weights, w)
		if texts < commonRows {
			some.terms, some.weights = append(some.terms, t), append(some.weights, w)
		}
	}
	if len(some.terms) == 0 {
		return all, nil
	}
	return some, nil
}

// search appends the best texts of a scope.
func (s weighed) search(ctx context.Context, c store.Conn, scope keywordScope, q store.SearchQuery, ids []string, found *[]store.Ranked) error {
	args := []any{scope.id, match(s.terms), q.Limit}
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	score := "ranked(keywords"
	for i, w := range s.weights {
		score += ", " + arg(w)
		if s.terms[i].Token != "" {
			score += ", " + arg(w) // of the token, which is a phrase of its own
		}
	}
	tenant, filter := arg(scope.tenant), ""
	if q.Category != "" {
		filter = ` AND EXISTS (SELECT 1 FROM keyword_rows r JOIN ` + q.Table + ` x ON x.tenant_id = r.tenant_id AND x.id = r.entity_id
			WHERE r.tenant_id = ` + tenant + ` AND r.number = keywords.rowid AND x.category = ` + arg(q.Category) + `)`
	}
	if ids != nil {
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		filter += ` AND EXISTS (SELECT 1 FROM keyword_rows r WHERE r.tenant_id = ` + tenant + ` AND r.number = keywords.rowid
			AND r.entity_id IN (SELECT value FROM json_each(` + arg(json.RawMessage(list)) + `)))`
	}
	return c.Query(ctx, `SELECT r.tenant_id, r.entity_id, b.score FROM (
			SELECT rowid AS number, `+score+`) AS score FROM keywords
			WHERE keywords MATCH $2 AND `+within+filter+` ORDER BY 2 DESC, 1 LIMIT $3) b
		JOIN keyword_rows r ON r.tenant_id = `+tenant+` AND r.number = b.number`,
		func(r store.Row) error {
			var m store.Ranked
			err := r.Scan(&m.TenantID, &m.ID, &m.Score)
			*found = append(*found, m)
			return err
		}, args...)
}

// match returns FTS5's query for any of the terms.
func match(terms []store.Term) string {
	return strings.Join(quoted(terms), " OR ")
}

// quoted writes the terms as strings of FTS5, so that none of them is syntax.
func quoted(terms []store.Term) []string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = `"` + strings.ReplaceAll(t.Word, `"`, `""`) + `"`
		if t.Token != "" {
			list[i] = `(` + list[i] + ` OR "` + t.Token + `")`
		}
	}
	return list
}
