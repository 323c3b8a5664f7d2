package store

// What the engines write differently. Everything else is one text.

// lock ends a SELECT whose rows its transaction will write. SQLite has one
// writer, which needs none.
func (d Dialect) lock() string {
	if d == DialectPostgres {
		return " FOR UPDATE"
	}
	return ""
}

// knows reports whether the engine runs what Later gets at once, so that the next
// statement can be given what the last one read instead of reading it again.
func (d Dialect) knows() bool { return d == DialectSQLite }

// mergedKeys is the JSON object of a column with the keys of a parameter or another
// column that is not NULL, as MergeObjects merges them.
func (d Dialect) mergedKeys(column, add string) string {
	if d == DialectPostgres {
		return `COALESCE(` + column + `, '{}'::jsonb) || ` + add
	}
	return `p8_merge(` + column + `, ` + add + `)`
}

// in adds the condition that a text column has one of the values, which are one
// parameter: a text of the statement's own for each number of values would have
// to be compiled each time.
func (q *query) in(d Dialect, column string, values []string) {
	if d == DialectPostgres {
		q.add(` AND ` + column + ` = ANY (ARRAY(SELECT jsonb_array_elements_text(`).arg(encodeList(values))
		q.add(`::jsonb)))`)
		return
	}
	q.add(` AND ` + column + ` IN (SELECT value FROM json_each(`).arg(encodeList(values))
	q.add(`))`)
}

// hasAll adds the condition that a column with a list of texts has all values.
func (q *query) hasAll(d Dialect, column string, values []string) {
	if d == DialectPostgres {
		q.add(` AND ` + column + `::jsonb @> `).arg(encodeList(values))
		q.add(`::jsonb`)
		return
	}
	q.add(` AND NOT EXISTS (SELECT 1 FROM json_each(`).arg(encodeList(values))
	q.add(`) AS wanted WHERE wanted.value NOT IN (SELECT value FROM json_each(` + column + `)))`)
}

// owned adds the condition on the owner: two texts rather than IS NOT DISTINCT
// FROM, which no index serves in PostgreSQL.
func (q *query) owned(owner any) {
	if owner == nil {
		q.add(` AND user_id IS NULL`)
		return
	}
	q.add(` AND user_id = `).arg(owner)
}
