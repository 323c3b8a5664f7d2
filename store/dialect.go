package store

// The SQL that differs between the engines. All other statements are one text.

// dayOf returns the date in UTC of a column with a time, such as 2026-02-21.
func (d Dialect) dayOf(column string) string {
	if d == DialectPostgres {
		return `to_char(` + column + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD')`
	}
	return `substr(` + column + `, 1, 10)`
}

// lock ends a SELECT whose rows its transaction will write. SQLite has one
// writer, which needs none.
func (d Dialect) lock() string {
	if d == DialectPostgres {
		return " FOR UPDATE"
	}
	return ""
}

// lockShared is lock for rows that others may lock in the same way, but not change.
func (d Dialect) lockShared() string {
	if d == DialectPostgres {
		return " FOR SHARE"
	}
	return ""
}

// lockUser returns the statement that takes the lock of a user ($1) until the transaction
// ends: many may hold it shared, one alone. SQLite has one writer, which needs none.
func (d Dialect) lockUser(shared bool) string {
	switch {
	case d == DialectSQLite:
		return ""
	case shared:
		return `SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))`
	}
	return `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`
}

// knows reports whether the engine runs a statement of Later at once, so that its result
// can be a parameter of the next statement.
func (d Dialect) knows() bool { return d == DialectSQLite }

// mergedKeys returns the JSON object of a column with the keys of a parameter or another
// column that is not NULL, as MergeObjects merges them.
func (d Dialect) mergedKeys(column, add string) string {
	if d == DialectPostgres {
		return `COALESCE(` + column + `, '{}'::jsonb) || ` + add
	}
	return `p8_merge(` + column + `, ` + add + `)`
}

// in adds the condition that a text column has one of the values. They are one parameter:
// otherwise each number of values would be another statement to compile.
func (q *query) in(d Dialect, column string, values []string) {
	if d == DialectPostgres {
		q.add(` AND ` + column + ` = ANY (ARRAY(SELECT jsonb_array_elements_text(`).arg(encodeList(values))
		q.add(`::jsonb)))`)
		return
	}
	q.add(` AND ` + column + ` IN (SELECT value FROM json_each(`).arg(encodeList(values))
	q.add(`))`)
}

// itemsOf returns a table with the items of a JSON list, in its column value.
func (d Dialect) itemsOf(list string) string {
	if d == DialectPostgres {
		return `jsonb_array_elements(` + list + `::jsonb) AS items(value)`
	}
	return `json_each(` + list + `) AS items`
}

// hasAll adds the condition that a column, which holds a list of texts, has all values.
func (q *query) hasAll(d Dialect, column string, values []string) {
	if d == DialectPostgres {
		q.add(` AND ` + column + `::jsonb @> `).arg(encodeList(values))
		q.add(`::jsonb`)
		return
	}
	q.add(` AND NOT EXISTS (SELECT 1 FROM json_each(`).arg(encodeList(values))
	q.add(`) AS wanted WHERE wanted.value NOT IN (SELECT value FROM json_each(` + column + `)))`)
}

// eachDialect is a statement in each dialect, made once: a turn should not build it.
type eachDialect [DialectPostgres + 1]string

func inEachDialect(text func(Dialect) string) (all eachDialect) {
	for d := range all {
		all[d] = text(Dialect(d))
	}
	return all
}

// ownerOf returns the SQL of the owner of a session or a message: the user, "" for an
// anonymous caller. It is part of their keys: a column on SQLite, whose keys take
// nothing else, an expression on PostgreSQL. prefix is the table's alias and a dot.
func (d Dialect) ownerOf(prefix string) string {
	if d == DialectPostgres {
		return d.orElse(prefix+`user_id`, `''`)
	}
	return prefix + `owner`
}

// orElse returns COALESCE of two columns. In PostgreSQL it is a CASE: under row-level
// security, no index serves a condition on COALESCE.
func (d Dialect) orElse(column, other string) string {
	if d == DialectPostgres {
		return `(CASE WHEN ` + column + ` IS NULL THEN ` + other + ` ELSE ` + column + ` END)`
	}
	return `COALESCE(` + column + `, ` + other + `)`
}

// userOf returns the user of a run or a request, "" without one.
func (d Dialect) userOf() string { return d.orElse(`user_id`, `''`) }

// putOwner returns the column of an INSERT that makes a session or a message the owner's,
// and its value, given the owner's parameter.
func (d Dialect) putOwner(param string) (column, value string) {
	if d == DialectPostgres {
		return `user_id`, `NULLIF(` + param + `, '')`
	}
	return `owner`, param
}

// ownSession chooses a session of the caller by its id, a deleted one too: $1 is the
// tenant, $2 the id, $3 the user.
func (d Dialect) ownSession() string {
	return ` WHERE tenant_id = $1 AND id = $2 AND ` + d.ownerOf(``) + ` = $3`
}

// ownedSession adds the condition on the owner of sessions or messages.
func (q *query) ownedSession(d Dialect, by caller) {
	if d == DialectPostgres {
		q.owned(by.user) // there are indexes with and without a user
		return
	}
	q.add(` AND owner = `).arg(by.UserID)
}

// ofSession adds the condition on the owner of runs or requests, and on their session
// unless that is "". Indexes by session hold the owner as an expression.
func (q *query) ofSession(d Dialect, by caller, session string) {
	if session == "" {
		q.owned(by.user)
		return
	}
	q.add(` AND session_id = `).arg(storable(session))
	q.add(` AND ` + d.userOf() + ` = `).arg(by.UserID)
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
