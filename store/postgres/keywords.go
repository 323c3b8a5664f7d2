package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/p8-org/p8/store"
)

const (
	// A word in commonRows or more visible rows is common: rows that hold no rarer word
	// of the question are not searched.
	commonRows = 2000
	// maxCandidates bounds the rows whose rank is computed.
	maxCandidates = 10_000
	// maxWord bounds a word, in bytes.
	maxWord = 100
)

// PutText implements store.TextIndexer.
func (e *engine) PutText(ctx context.Context, c store.Conn, t store.IndexedText) error {
	return c.Later(ctx, store.Statement{
		SQL: `INSERT INTO keywords (tenant_id, table_name, entity_id, owner, words)
			VALUES ($1, $2, $3, $4, to_tsvector('p8_words', $5) || array_to_tsvector(ARRAY[$6]::text[]))
			ON CONFLICT (tenant_id, table_name, entity_id) DO UPDATE SET owner = excluded.owner, words = excluded.words`,
		Args: []any{t.TenantID, t.Table, t.ID, t.Owner, words(t.Text), scopeWord(t.Table, store.RowOwner{TenantID: t.TenantID, UserID: t.Owner})},
	})
}

// DeleteText implements store.TextIndexer.
func (e *engine) DeleteText(ctx context.Context, c store.Conn, t store.IndexedText) error {
	_, err := c.Exec(ctx, `DELETE FROM keywords WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3`, t.TenantID, t.Table, t.ID)
	return err
}

// DeleteTexts implements store.TextIndexer.
func (e *engine) DeleteTexts(ctx context.Context, c store.Conn, tenant, table string, ids []string) error {
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `DELETE FROM keywords WHERE tenant_id = $1 AND table_name = $2
		AND entity_id = ANY (ARRAY(SELECT jsonb_array_elements_text($3::jsonb)))`, tenant, table, json.RawMessage(list))
	return err
}

// DropTexts implements store.TextIndexer.
func (e *engine) DropTexts(ctx context.Context, c store.Conn, owner store.RowOwner) error {
	_, err := c.Exec(ctx, `DELETE FROM keywords WHERE tenant_id = $1 AND owner = $2`, owner.TenantID, owner.UserID)
	return err
}

// scopeWord returns a word in each row's index for its table and owner, so that the index
// itself excludes rows that the caller may not read.
func scopeWord(table string, o store.RowOwner) string {
	return table + "\n" + o.TenantID + "\n" + o.UserID
}

// words returns a text as PostgreSQL's parser shall read it: words of letters and
// digits in lower case, without the signs that would make one word of a path or
// an address, and without the accents of Latin letters.
func words(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}) {
		if len(word) > maxWord {
			continue
		}
		b.WriteString(plain(word))
		b.WriteByte(' ')
	}
	return b.String()
}

// plain removes the accents of Latin letters.
func plain(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < 0x80
	}
	if ascii {
		return word
	}
	latin := false
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && latin {
			return -1
		}
		latin = unicode.Is(unicode.Latin, r)
		return r
	}, norm.NFD.String(word)))
}

// Keywords implements store.KeywordRanker. A word counts by its rarity (inverse
// document frequency among the visible rows, as in BM25) and by ts_rank, which
// grows ever slower with the times that the word occurs and shrinks with the
// length of the text.
func (e *engine) Keywords(ctx context.Context, sc store.Scope, q store.SearchQuery, terms []store.Term, ids []string) ([]store.Ranked, error) {
	if err := checkTable(q.Table); err != nil {
		return nil, err
	}
	var found []store.Ranked
	err := e.Read(ctx, sc, func(c store.Conn) error {
		found = nil
		rarity, err := frequencies(ctx, c, sc, q.Table, terms)
		if err != nil {
			return err
		}
		s := keywordStatement(sc, q, terms, rarity, ids)
		if s == nil {
			return nil
		}
		return s.run(ctx, c, func(r store.Row) error {
			var x store.Ranked
			if err := r.Scan(&x.TenantID, &x.ID, &x.Score); err != nil {
				return err
			}
			found = append(found, x)
			return nil
		})
	})
	return found, err
}

// frequencies counts for each term the visible rows that hold it, commonRows at most. No
// row holds a term that PostgreSQL does not know as a word, whose query is an empty one.
func frequencies(ctx context.Context, c store.Conn, sc store.Scope, table string, terms []store.Term) ([]int64, error) {
	words, tokens := make([]string, len(terms)), make([]string, len(terms))
	for i, t := range terms {
		words[i], tokens[i] = plain(t.Word), t.Token
	}
	query := `phraseto_tsquery('p8_words', t.word)`
	if len(terms) > 0 && terms[0].Token != "" {
		query = `(` + query + ` || phraseto_tsquery('p8_words', t.token))`
	}
	s := &statement{}
	s.add(`SELECT (SELECT count(*) FROM (SELECT FROM caller_words WHERE words @@ (%s && %s) AND numnode(%[2]s) > 0 LIMIT %d) hits)
		FROM unnest(%s::text[], %s::text[]) WITH ORDINALITY t(word, token, n) ORDER BY t.n`,
		scopeQuery(s, sc, table), query, commonRows, s.arg(words), s.arg(tokens))
	var list []int64
	err := s.run(ctx, c, func(r store.Row) error {
		var n int64
		err := r.Scan(&n)
		list = append(list, n)
		return err
	})
	return list, err
}

// scopeQuery returns the tsquery of the rows that sc may see.
func scopeQuery(s *statement, sc store.Scope, table string) string {
	var any []string
	for _, o := range sc.Reads(table) {
		any = append(any, scopeLexeme(table, o))
	}
	return s.arg(strings.Join(any, " | ")) + "::tsquery"
}

// scopeLexeme returns a scopeWord as a tsquery.
func scopeLexeme(table string, o store.RowOwner) string {
	return "'" + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(scopeWord(table, o)) + "'"
}

// termQueries returns the tsqueries of a term: its word and its token.
func termQueries(s *statement, t store.Term) []string {
	list := []string{fmt.Sprintf("phraseto_tsquery('p8_words', %s)", s.arg(plain(t.Word)))}
	if t.Token != "" {
		list = append(list, fmt.Sprintf("phraseto_tsquery('p8_words', %s)", s.arg(t.Token)))
	}
	return list
}

// termQuery returns the tsquery of the texts with a term.
func termQuery(s *statement, t store.Term) string {
	return `(` + strings.Join(termQueries(s, t), ` || `) + `)`
}

// keywordStatement is nil when no row holds a term.
func keywordStatement(sc store.Scope, q store.SearchQuery, terms []store.Term, frequency []int64, ids []string) *statement {
	s := &statement{}
	// Rows that hold common words only come last, and cost the most.
	rare := slices.ContainsFunc(frequency, func(n int64) bool { return n > 0 && n < commonRows })
	var any, score []string
	for i, term := range terms {
		if frequency[i] == 0 || rare && frequency[i] >= commonRows {
			continue
		}
		weight := s.arg(math.Log1p(4 * commonRows / float64(frequency[i])))
		for _, query := range termQueries(s, term) {
			any = append(any, query)
			score = append(score, fmt.Sprintf("%s::float8 * ts_rank(k.words, %s, 1)", weight, query))
		}
	}
	if len(any) == 0 {
		return nil
	}
	s.add(`SELECT tenant_id, entity_id, score FROM (SELECT k.tenant_id, k.entity_id, %s AS score FROM caller_words k`, strings.Join(score, " + "))
	s.add(` WHERE k.words @@ (%s && (%s))`, scopeQuery(s, sc, q.Table), strings.Join(any, " || "))
	if q.Category != "" {
		s.add(` AND EXISTS (SELECT FROM %s x WHERE x.tenant_id = k.tenant_id AND x.id = k.entity_id AND x.category = %s)`, q.Table, s.arg(q.Category))
	}
	if ids != nil {
		s.add(` AND k.entity_id = ANY(%s)`, s.arg(ids))
	}
	s.add(` LIMIT %d) hits ORDER BY score DESC, entity_id COLLATE "C" LIMIT %d`, maxCandidates, q.Limit)
	return s
}
