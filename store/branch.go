package store

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"time"
)

// A session is a tree of messages, of which one path, the current branch, is what every
// reader sees. The others are hidden as deleted messages are (deleted_at), and marked as
// cut. Numbers grow with time whatever the branch, so the tree is a list of segments:
// the messages from the number first on follow the message after. Nothing in the list ever
// changes, and the row of a message does not name its branch.

// segment says that the messages from first on, up to the next segment, follow after.
type segment struct{ first, after int64 }

// segments are those of a session, by first. The first one is {1, 0}.
type segments []segment

// span is a range of numbers, both inclusive.
type span struct{ first, last int64 }

// of returns the index of the segment that has a message.
func (l segments) of(seq int64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].first > seq }) - 1
}

// path returns the numbers of the messages that lead to a message, which is included.
func (l segments) path(seq int64) []span {
	var out []span
	for seq > 0 {
		s := l[l.of(seq)]
		out = append(out, span{s.first, seq})
		seq = s.after
	}
	slices.Reverse(out)
	return out
}

// current returns the numbers of the current branch.
func (l segments) current() []span { return l.path(math.MaxInt64) }

// fork returns the last number that two paths have in common, 0 for none.
func fork(a, b []span) (seq int64) {
	for i := range min(len(a), len(b)) {
		if a[i].first != b[i].first {
			break
		}
		seq = min(a[i].last, b[i].last)
		if a[i].last != b[i].last {
			break
		}
	}
	return seq
}

// beyond returns the part of a path after a number.
func beyond(path []span, seq int64) []span {
	var out []span
	for _, s := range path {
		if s.last > seq {
			out = append(out, span{max(s.first, seq+1), s.last})
		}
	}
	return out
}

const branchRows = ` FROM session_branches WHERE tenant_id = $1 AND session_id = $2 AND owner = $3`

// readSegments reads the segments of the session that the owner has.
func readSegments(ctx context.Context, c Conn, tenant, session, owner string) (segments, error) {
	l := segments{{1, 0}}
	err := c.Query(ctx, `SELECT first_seq, after_seq`+branchRows+` ORDER BY first_seq`, func(r Row) error {
		var s segment
		err := r.Scan(&s.first, &s.after)
		if s.first == 1 { // it went back before it had a message
			l = l[:0]
		}
		l = append(l, s)
		return err
	}, tenant, session, owner)
	return l, err
}

// goBack makes the messages that lead to a message of the caller's session, 0 for none, its
// current branch: the next message follows that one. Other writers of the session wait.
func (w *writer) goBack(ctx context.Context, session string, after int64) error {
	b := branching{w: w, session: session, own: []any{w.by.TenantID, session, w.by.UserID}}
	found, err := one(ctx, w.c, `SELECT message_count + dropped_messages, summary_seq, metadata FROM sessions`+w.store.dialect.ownSession()+
		` AND deleted_at IS NULL`+w.store.dialect.lock(), []any{&b.last, &b.summary, &b.metadata}, b.own...)
	switch {
	case err != nil:
		return err
	case !found:
		return notFound("session", session)
	case after < 0 || after > b.last:
		return invalidf("the session has %d messages, number %d is none of them", b.last, after)
	}
	l, err := readSegments(ctx, w.c, w.by.TenantID, session, w.by.UserID)
	if err != nil {
		return err
	}
	path := l.path(after)
	b.fork = fork(l.current(), path)
	changed, err := b.show(ctx, beyond(path, b.fork))
	if err != nil || !changed {
		return err
	}
	if err := b.forget(ctx); err != nil {
		return err
	}
	if err := b.count(ctx); err != nil {
		return err
	}
	_, err = w.c.Exec(ctx, `INSERT INTO session_branches (tenant_id, session_id, owner, first_seq, after_seq, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, session_id, owner, first_seq) DO UPDATE SET after_seq = excluded.after_seq`,
		append(b.own, b.last+1, after, w.now)...)
	return err
}

// branching is a change of a session's current branch.
type branching struct {
	w       *writer
	session string
	own     []any // the parameters that name the session
	// last is the newest number, summary the last one that a moment covers, and fork the
	// last one that the branch before and the next one share.
	last, summary, fork int64
	metadata            json.RawMessage
	// since is the time of the first hidden message.
	since time.Time
}

// messagesOf chooses the messages of a session, $1 to $3.
func (b *branching) messagesOf() string {
	return ` WHERE tenant_id = $1 AND session_id = $2 AND ` + b.w.store.dialect.ownerOf(``) + ` = $3`
}

// show hides the messages after the fork and shows others. Memory rows are on no branch.
func (b *branching) show(ctx context.Context, others []span) (changed bool, err error) {
	live := b.messagesOf() + ` AND seq > $4 AND message_type <> '` + MessageMemory + `' AND deleted_at IS NULL`
	args := append(b.own, b.fork)
	hidden := 0
	if _, err := one(ctx, b.w.c, `SELECT count(*), MIN(created_at) FROM messages`+live, []any{&hidden, &b.since}, args...); err != nil {
		return false, err
	}
	if hidden == 0 && len(others) == 0 {
		return false, nil
	}
	if _, err := b.w.c.Exec(ctx, `UPDATE messages SET cut = (1 = 1), deleted_at = $5, updated_at = $5`+live, append(args, b.w.now)...); err != nil {
		return false, err
	}
	for _, s := range others {
		if _, err := b.w.c.Exec(ctx, `UPDATE messages SET cut = (1 = 0), deleted_at = NULL, updated_at = $6`+b.messagesOf()+` AND cut AND seq >= $4 AND seq <= $5`,
			append(b.own, s.first, s.last, b.w.now)...); err != nil {
			return false, err
		}
	}
	return true, nil
}

// forget removes what was made of messages after the fork: the moments that sum them up, the
// memory rows since, and observations that began with them. They are made again if their
// branch comes back and grows.
func (b *branching) forget(ctx context.Context) error {
	w := b.w
	q := newQuery(moments.selects)
	q.add(`tenant_id = `).arg(w.by.TenantID)
	q.owned(w.by.user)
	q.add(` AND source_session_id = `).arg(b.session)
	q.add(` AND deleted_at IS NULL AND (last_seq > `).arg(b.fork)
	if !b.since.IsZero() {
		q.add(` OR moment_type = '` + MomentObservation + `' AND starts_timestamp >= `).arg(b.since)
	}
	q.add(`)`)
	var gone []record
	if err := moments.read(ctx, w.c, q, func(rec record) error {
		gone = append(gone, rec)
		return nil
	}); err != nil {
		return err
	}
	for _, rec := range gone {
		if err := w.remove(ctx, moments, rec); err != nil {
			return err
		}
	}
	if b.summary <= b.fork {
		return nil
	}
	_, err := w.c.Exec(ctx, `UPDATE messages SET deleted_at = $5, updated_at = $5`+b.messagesOf()+
		` AND seq > $4 AND message_type = '`+MessageMemory+`' AND deleted_at IS NULL`, append(b.own, b.fork, w.now)...)
	return err
}

// count counts the session's messages, and what moments cover of them, anew.
func (b *branching) count(ctx context.Context) error {
	w, left := b.w, 0
	var newest Moment
	if b.summary > b.fork {
		b.summary = 0
		q := newQuery(`SELECT count(*) OVER (), last_seq, id, summary FROM moments WHERE tenant_id = `)
		q.arg(w.by.TenantID)
		q.owned(w.by.user)
		q.add(` AND source_session_id = `).arg(b.session)
		q.add(` AND deleted_at IS NULL AND last_seq IS NOT NULL ORDER BY last_seq DESC LIMIT 1`)
		if _, err := one(ctx, w.c, q.String(), []any{&left, &b.summary, &newest.ID, &newest.Summary}, q.args...); err != nil {
			return err
		}
		if err := b.describe(&newest, left); err != nil {
			return err
		}
		if _, err := w.c.Exec(ctx, `UPDATE sessions SET chunks = $4, metadata = $5`+w.store.dialect.ownSession(), append(b.own, left, w.by.seal.object("metadata", b.metadata))...); err != nil {
			return err
		}
	}
	_, err := w.c.Exec(ctx, `UPDATE sessions SET (message_count, dropped_messages, total_tokens, summary_seq, summary_tokens, memory_seq) =
		(SELECT count(CASE WHEN `+notShare+` THEN 1 END), CAST($4 AS BIGINT) - count(CASE WHEN `+notShare+` THEN 1 END),
		CAST(COALESCE(SUM(token_count), 0) AS BIGINT), CAST($5 AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN seq <= $5 OR message_type = '`+MessageMemory+`' THEN token_count END), 0) AS BIGINT),
		COALESCE(MAX(CASE WHEN message_type = '`+MessageMemory+`' THEN seq END), 0)
		FROM messages m`+b.messagesOf()+` AND deleted_at IS NULL)`+w.store.dialect.ownSession(), append(b.own, b.last, b.summary)...)
	return err
}

// describe makes the session's metadata name the newest moment that is left, if one is.
func (b *branching) describe(newest *Moment, left int) (err error) {
	latest := latestOf(newest, left)
	if left > 0 || len(b.metadata) == 0 {
		if left > 0 {
			b.metadata, _, err = MergeObjects(b.metadata, encode(latest))
		}
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b.metadata, &all); err != nil {
		return err
	}
	for key := range latest {
		delete(all, key)
	}
	b.metadata = encode(all)
	return nil
}
