package store

import (
	"context"
	"time"
)

// FeedFilter chooses days of the caller's feed.
type FeedFilter struct {
	// Limit is the most active days; 20 when 0, 100 at most.
	Limit int
	// Before leaves out that day and later ones ("2026-02-21"); "" leaves out no day. For
	// the next page, it is the oldest day of the page before.
	Before string
	// Zone is where days begin and end; nil is UTC.
	Zone *time.Location
	// Future includes moments that have not begun; reminders always are.
	Future bool
}

// FeedDay is a day on which something happened. Sessions of background work do not count.
type FeedDay struct {
	// Date is as in "2026-02-21".
	Date string `json:"date"`
	// SessionID is the id of the day's own session. It depends only on the user and the
	// date.
	SessionID string `json:"session_id"`
	Messages  int    `json:"message_count"`
	Tokens    int    `json:"total_tokens"`
	// Sessions are those of the day, the last used first, 20 at most.
	Sessions     []FeedSession `json:"sessions"`
	SessionCount int           `json:"session_count"`
	MomentCount  int           `json:"moment_count"`
	Reminders    int           `json:"reminder_count"`
	// Moments are the day's, the newest first, without session_chunk ones, 100 at most.
	Moments []Moment `json:"moments"`
}

// FeedSession is a session of a day.
type FeedSession struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Title is that of Session.
	Title    string `json:"title,omitempty"`
	Messages int    `json:"message_count"`
}

// Bounds of a day in the feed.
const (
	feedSessions = 20
	feedMoments  = 100
)

// Feed lists the days on which something happened, the newest first. A moment belongs to
// the day on which it began; a reminder and a moment without a time to that of its creation.
func (diary Diary) Feed(ctx context.Context, f FeedFilter) ([]FeedDay, error) {
	limit := page(f.Limit, 20, 100)
	before := lastTime
	if f.Before != "" {
		d, err := openDay(f.Before, f.Zone)
		if err != nil {
			return nil, missingFirst(ctx, err)
		}
		before = d.begin
	}
	var list []FeedDay
	err := diary.store.read(ctx, "read feed", func(c Conn, by caller) error {
		list = nil
		r := feedReader{diary.store.dialect, by, f.Future, diary.store.clock()}
		// Find the days one by one; then read all of them in one round trip.
		var days []day
		for len(days) < limit {
			at, err := r.newest(ctx, c, before)
			if err != nil {
				return err
			}
			if at.IsZero() {
				break
			}
			d := dayOf(at, f.Zone)
			days, before = append(days, d), d.begin
		}
		list = make([]FeedDay, len(days))
		for i, d := range days {
			if err := r.read(ctx, c, d, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// Day returns one day of the feed ("2026-02-21"), which is empty if nothing happened.
func (diary Diary) Day(ctx context.Context, date string, zone *time.Location) (FeedDay, error) {
	d, err := openDay(date, zone)
	if err != nil {
		return FeedDay{}, missingFirst(ctx, err)
	}
	var out FeedDay
	err = diary.store.read(ctx, "read day", func(c Conn, by caller) error {
		return feedReader{diary.store.dialect, by, false, diary.store.clock()}.read(ctx, c, d, &out)
	})
	if err != nil {
		return FeedDay{}, err
	}
	return out, nil
}

// feedReader reads what happened to a caller.
type feedReader struct {
	d      Dialect
	by     caller
	future bool
	now    time.Time
}

// notBackground returns the condition that a message is not of background work.
func (r feedReader) notBackground() string {
	return `NOT EXISTS (SELECT 1 FROM sessions b WHERE b.tenant_id = m.tenant_id AND b.id = m.session_id
		AND ` + r.d.ownerOf(`b.`) + ` = ` + r.d.ownerOf(`m.`) + ` AND b.mode IN ` + backgroundModes + `)`
}

// said adds the condition on the messages m that count. It matches a partial index.
func (r feedReader) said(q *query) {
	q.add(`tenant_id = `).arg(r.by.TenantID)
	q.ownedSession(r.d, r.by)
	q.add(` AND deleted_at IS NULL AND message_type <> 'memory'` + withoutShares)
}

// made adds the condition on the moments that count.
func (r feedReader) made(q *query) {
	q.add(`tenant_id = `).arg(r.by.TenantID)
	q.owned(r.by.user)
	q.add(` AND deleted_at IS NULL AND moment_type IS DISTINCT FROM '` + MomentSessionChunk + `'`)
	if !r.future {
		q.add(` AND (starts_timestamp IS NULL OR moment_type = '` + MomentReminder + `' OR starts_timestamp <= `).arg(r.now)
		q.add(`)`)
	}
}

// newest returns the time of the last event before a time, zero if there was no event.
func (r feedReader) newest(ctx context.Context, c Conn, before time.Time) (time.Time, error) {
	q := newQuery(`SELECT (SELECT created_at FROM messages m WHERE `)
	r.said(q)
	q.add(` AND created_at < `).arg(before)
	q.add(` AND ` + r.notBackground() + ` ORDER BY created_at DESC LIMIT 1), (SELECT ` + r.d.happened() + ` FROM moments WHERE `)
	r.made(q)
	q.add(` AND ` + r.d.happened() + ` < `).arg(before)
	q.add(` ORDER BY ` + r.d.happened() + ` DESC LIMIT 1)`)
	var message, moment time.Time
	if _, err := one(ctx, c, q.String(), []any{&message, &moment}, q.args...); err != nil {
		return time.Time{}, err
	}
	if moment.After(message) {
		return moment, nil
	}
	return message, nil
}

// read reads a day.
func (r feedReader) read(ctx context.Context, c Conn, d day, out *FeedDay) error {
	*out = FeedDay{
		Date: d.date, SessionID: EntityID(sessions.Name, "daily-"+d.date, r.by.UserID),
		Sessions: []FeedSession{}, Moments: []Moment{},
	}
	for _, x := range []Statement{r.sessions(d, out), r.counts(d, out), r.moments(d, out)} {
		if err := c.Later(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

func (d day) within(q *query, column string) {
	q.add(` AND ` + column + ` >= `).arg(d.begin)
	q.add(` AND ` + column + ` < `).arg(d.end)
}

// happened returns the time of a moment in the feed, for which there is an index.
func (d Dialect) happened() string {
	return `(CASE WHEN moment_type = '` + MomentReminder + `' THEN created_at ELSE ` + d.began() + ` END)`
}

// sessions reads the day's sessions, the last used first, with the totals of all.
func (r feedReader) sessions(d day, out *FeedDay) Statement {
	q := newQuery(`SELECT x.session_id, s.name, x.said, x.messages, x.tokens, x.sessions` + r.d.firstMessage(`s`) + ` FROM (SELECT session_id, count(*) AS said,
		MAX(created_at) AS latest, CAST(SUM(count(*)) OVER () AS BIGINT) AS messages,
		CAST(SUM(SUM(token_count)) OVER () AS BIGINT) AS tokens, count(*) OVER () AS sessions FROM messages m WHERE `)
	r.said(q)
	d.within(q, `created_at`)
	q.add(` AND ` + r.notBackground() + ` GROUP BY session_id ORDER BY latest DESC, session_id LIMIT `).arg(feedSessions)
	q.add(`) AS x JOIN sessions s ON s.tenant_id = `).arg(r.by.TenantID)
	q.add(` AND s.id = x.session_id AND ` + r.d.ownerOf(`s.`) + ` = `).arg(r.by.UserID)
	q.add(` ORDER BY x.latest DESC, x.session_id`)
	return Statement{SQL: q.String(), Args: q.args, Each: func(row Row) error {
		var x FeedSession
		err := row.Scan(&x.ID, &x.Name, &x.Messages, &out.Messages, &out.Tokens, &out.SessionCount, &x.Title)
		x.Title = titleOf(x.Name, x.Title, x.ID)
		out.Sessions = append(out.Sessions, x)
		return err
	}}
}

// counts counts the day's moments.
func (r feedReader) counts(d day, out *FeedDay) Statement {
	q := newQuery(`SELECT count(*), count(CASE WHEN moment_type = '` + MomentReminder + `' THEN 1 END) FROM moments WHERE `)
	r.made(q)
	d.within(q, r.d.happened())
	return Statement{SQL: q.String(), Args: q.args, Each: func(row Row) error {
		return row.Scan(&out.MomentCount, &out.Reminders)
	}}
}

// moments reads the day's moments, the newest first.
func (r feedReader) moments(d day, out *FeedDay) Statement {
	q := newQuery(moments.selects)
	r.made(q)
	d.within(q, r.d.happened())
	q.add(` ORDER BY ` + r.d.happened() + ` DESC, id DESC LIMIT `).arg(feedMoments)
	return Statement{SQL: q.String(), Args: q.args, Each: func(row Row) error {
		out.Moments = append(out.Moments, Moment{})
		var f fields
		return f.scan(row, &out.Moments[len(out.Moments)-1])
	}}
}
