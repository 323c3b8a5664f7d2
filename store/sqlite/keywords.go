package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"p8/store"
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
	if _, err := c.Exec(ctx, `INSERT INTO keyword_rows (number, tenant_id, table_name, entity_id) VALUES ($1, $2, $3, $4)`,
		number, t.TenantID, t.Table, t.ID); err != nil {
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
	_, err = c.Exec(ctx, `DELETE FROM keyword_rows WHERE number = $1`, number)
	return err
}

// keywordNumber is the number under which a row's text is indexed, 0 for none.
func keywordNumber(ctx context.Context, c store.Conn, t store.IndexedText) (number int64, err error) {
	err = c.Query(ctx, `SELECT number FROM keyword_rows WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3`,
		func(r store.Row) error { return r.Scan(&number) }, t.TenantID, t.Table, t.ID)
	return number, err
}

// Keywords implements store.KeywordRanker by BM25; how rare a word is, is counted
// over the whole database.
func (e *engine) Keywords(ctx context.Context, sc store.Scope, q store.SearchQuery, terms, ids []string) ([]store.Ranked, error) {
	var found []store.Ranked
	err := e.Read(ctx, func(c store.Conn) error {
		scopes, err := keywordScopes(ctx, c, sc, q.Table)
		if err != nil || len(scopes) == 0 {
			return err
		}
		// Every statement has the same number of scopes, so that it is prepared once.
		for len(scopes) < 3 {
			scopes = append(scopes, scopes[0])
		}
		filter, args := "", []any{match(terms), q.Limit, scopes[0], scopes[1], scopes[2]}
		if q.Category != "" {
			args = append(args, q.Category)
			filter = fmt.Sprintf(` AND EXISTS (SELECT 1 FROM keyword_rows r JOIN %s x ON x.tenant_id = r.tenant_id AND x.id = r.entity_id
				WHERE r.number = keywords.rowid AND x.category = $%d)`, q.Table, len(args))
		}
		if ids != nil {
			list, err := json.Marshal(ids)
			if err != nil {
				return err
			}
			args = append(args, json.RawMessage(list))
			filter += fmt.Sprintf(` AND EXISTS (SELECT 1 FROM keyword_rows r
				WHERE r.number = keywords.rowid AND r.entity_id IN (SELECT value FROM json_each($%d)))`, len(args))
		}
		return c.Query(ctx, `SELECT r.tenant_id, r.entity_id, -b.score FROM (
				SELECT rowid AS number, bm25(keywords) AS score FROM keywords
				WHERE keywords MATCH $1 AND rowid >> 32 IN ($3, $4, $5)`+filter+` ORDER BY score, rowid LIMIT $2) b
			JOIN keyword_rows r ON r.number = b.number ORDER BY b.score, r.entity_id`,
			func(r store.Row) error {
				var m store.Ranked
				if err := r.Scan(&m.TenantID, &m.ID, &m.Score); err != nil {
					return err
				}
				found = append(found, m)
				return nil
			}, args...)
	})
	return found, err
}

// keywordScopes are the numbers of the scopes that have texts, at most three.
func keywordScopes(ctx context.Context, c store.Conn, sc store.Scope, table string) ([]int64, error) {
	var list []int64
	for _, owner := range sc.Reads(table) {
		if err := c.Query(ctx, `SELECT id FROM keyword_scopes WHERE tenant_id = $1 AND table_name = $2 AND owner = $3`,
			func(r store.Row) error {
				var id int64
				err := r.Scan(&id)
				list = append(list, id)
				return err
			}, owner.TenantID, table, owner.UserID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// match is FTS5's query for any of the terms, each a string and no syntax.
func match(terms []string) string {
	quoted := slices.Clone(terms)
	for i, t := range quoted {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
	}
	return strings.Join(quoted, " OR ")
}
