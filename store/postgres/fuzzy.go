package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// wordThreshold is the least word similarity that counts (pg_trgm's default).
const wordThreshold = 0.6

// fuzzySettings are the thresholds of the operators % and %>. They compare a
// float4 with a float8, so that 0.7 would not reach 0.7: the thresholds lie a
// little lower, by less than two similarities can differ. The planner takes a
// similarity for as cheap as a comparison, and would rather compute thousands of
// them than read an index.
const fuzzySettings = `SELECT set_config('pg_trgm.similarity_threshold', $1, true),
	set_config('pg_trgm.word_similarity_threshold', $2, true), set_config('enable_seqscan', 'off', true)`

// fuzzySQL finds the rows by each of the four measures separately: with an OR, PostgreSQL
// would compute all four for every candidate of the index, and a summary costs ten times
// as much as a key. The index itself excludes rows that the caller may not read (scope)
// and summaries of a very different size (summary_size): the similarity of two texts of n
// and m trigrams is at most n/m.
//
// Then come Store.Fuzzy's scores and order: the score is the greatest measure, and the
// similarity that breaks ties is computed only for rows that may be among the first
// (rank). $1 is the text, $2 the threshold, $3 the limit, %[1]s the scopes.
const fuzzySQL = `WITH hits AS (
	SELECT tenant_id, owner, entity_key, entity_type, similarity(entity_key, $1) AS score
	FROM caller_keys WHERE entity_key %% $1 AND scope && %[1]s
	UNION ALL
	SELECT tenant_id, owner, entity_key, entity_type, similarity(content_summary, $1)
	FROM caller_keys WHERE content_summary %% $1 AND scope && %[1]s AND summary_size && (
		SELECT array_agg(n::int2) FROM cardinality(show_trgm($1)) AS size,
		generate_series(least(63, greatest(0, floor(size * $2::float8 / 4) - 1))::int, least(63, ceil(size / $2::float8 / 4) + 1)::int) AS n)
	UNION ALL
	SELECT tenant_id, owner, entity_key, entity_type, word_similarity($1, entity_key)
	FROM caller_keys WHERE entity_key %%> $1 AND scope && %[1]s
	UNION ALL
	SELECT tenant_id, owner, entity_key, entity_type, word_similarity($1, content_summary)
	FROM caller_keys WHERE content_summary %%> $1 AND scope && %[1]s
), best AS (
	SELECT tenant_id, owner, entity_key, entity_type, max(score)::float8 AS score, rank() OVER (ORDER BY max(score) DESC) AS place
	FROM hits GROUP BY 1, 2, 3, 4
)
SELECT k.owner, k.entity_key, k.entity_type, k.entity_id, k.content_summary, b.score
FROM best b JOIN caller_keys k USING (tenant_id, owner, entity_key, entity_type)
WHERE b.place <= $3
ORDER BY b.score DESC, greatest(similarity(k.entity_key, $1), similarity(k.content_summary, $1)) DESC, k.entity_key COLLATE "C",
	k.tenant_id = '` + identity.SystemTenant + `', k.owner = '', k.entity_type COLLATE "C", k.entity_id COLLATE "C"
LIMIT $3`

// Fuzzy implements store.Indexed.
func (e *engine) Fuzzy(ctx context.Context, sc store.Scope, text string, threshold float64, limit int) ([]store.Match, error) {
	// PostgreSQL takes neither NUL nor invalid UTF-8; neither is part of a word.
	text = strings.ReplaceAll(strings.ToValidUTF8(text, " "), "\x00", " ")
	s := fuzzyStatement(sc, text, threshold, limit)
	var found []store.Match
	settings := store.Statement{SQL: fuzzySettings, Args: []any{setting(threshold), setting(max(threshold, wordThreshold))}}
	err := s.under(ctx, e, sc, settings, func(r store.Row) error {
		var m store.Match
		var owner string
		if err := r.Scan(&owner, &m.Key, &m.Type, &m.ID, &m.Summary, &m.Score); err != nil {
			return err
		}
		m.Own = owner != ""
		found = append(found, m)
		return nil
	})
	return found, err
}

func fuzzyStatement(sc store.Scope, text string, threshold float64, limit int) *statement {
	s := &statement{args: []any{text, threshold, limit}}
	s.add(fuzzySQL, s.arg(keyScopes(sc))+"::text[]")
	return s
}

// keyScopes returns the scopes whose keys sc may read, in the form of kv_store.scope.
func keyScopes(sc store.Scope) []string {
	var list []string
	for _, o := range sc.KeyOwners() {
		list = append(list, o.TenantID+"\n"+o.UserID)
	}
	return list
}

func setting(threshold float64) string {
	return strconv.FormatFloat(min(1, max(0, threshold-1e-6)), 'f', 7, 64)
}
