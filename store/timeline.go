package store

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
)

// The kinds of a TimelineEvent.
const (
	TimelineMessage = "message"
	TimelineMoment  = "moment"
)

// TimelineEvent is a message or a moment of a session.
type TimelineEvent struct {
	Type string    `json:"event_type"`
	ID   string    `json:"event_id"`
	At   time.Time `json:"event_timestamp"`
	// Name is the message's type or the moment's; Content its text or summary.
	Name    string `json:"name_or_type"`
	Content string `json:"content_or_summary"`
	// Metadata of a message are seq, token_count, tool_calls, agent_name and model, those
	// of a moment name, ends_timestamp, previous_moment_keys and moment_metadata.
	Metadata json.RawMessage `json:"metadata"`
}

// TimelineFilter chooses a page of a timeline.
type TimelineFilter struct {
	// Limit is 50 by default and 500 at most.
	Limit int
	// Cursor is what the page before returned.
	Cursor string
}

// Diary is what happened to the caller, by session and by day.
type Diary struct{ store *Store }

// Diary returns the caller's diary.
func (s *Store) Diary() Diary { return Diary{s} }

// Timeline returns the newest part of a session's messages and moments, oldest first,
// and the cursor of the page before it, "" at the beginning. A moment is placed at its
// starts_timestamp, else at the time of its creation.
func (diary Diary) Timeline(ctx context.Context, sessionID string, f TimelineFilter) ([]TimelineEvent, string, error) {
	limit := page(f.Limit, 50, 500)
	sessionID = storable(sessionID)
	var before timelinePlace
	var said, made []placedEvent
	err := diary.store.read(ctx, "read timeline", func(c Conn, by caller) (err error) {
		if before, err = openTimelineCursor(f.Cursor); err != nil {
			return err
		}
		for _, x := range []Statement{
			{
				SQL:  `SELECT 1 FROM sessions` + diary.store.dialect.ownSession() + ` AND deleted_at IS NULL`,
				Args: []any{by.TenantID, sessionID, by.UserID}, Missing: func() error { return notFound("session", sessionID) },
			},
			timelineMessages(diary.store.dialect, by, sessionID, before, limit+1, &said),
			timelineMoments(diary.store.dialect, by, sessionID, before, limit+1, &made),
		} {
			if err := c.Later(ctx, x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	// Both are newest first. At the same time, a moment comes before the message.
	list := make([]TimelineEvent, 0, min(limit, len(said)+len(made)))
	for len(list) < limit && len(said)+len(made) > 0 {
		from := &said
		if len(said) == 0 || len(made) > 0 && made[0].At.After(said[0].At) {
			from = &made
		}
		x := (*from)[0]
		*from = (*from)[1:]
		if list = append(list, x.TimelineEvent); x.seq > 0 {
			before.seq = x.seq
		} else {
			before.at, before.id = x.At, x.ID
		}
	}
	slices.Reverse(list)
	if len(said)+len(made) == 0 {
		return list, "", nil
	}
	return list, before.cursor(), nil
}

// placedEvent is an event with a message's number, 0 for a moment.
type placedEvent struct {
	TimelineEvent
	seq int64
}

// timelinePlace is where a page of a timeline ends: the page holds the messages before that
// number and the moments before that time and id.
type timelinePlace struct {
	seq int64
	at  time.Time
	id  string
}

// lastTime is later than any time in a database.
var lastTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func (p timelinePlace) cursor() string {
	return newCursor(strconv.FormatInt(p.seq, 10), strconv.FormatInt(p.at.UnixMicro(), 10), p.id)
}

func openTimelineCursor(cursor string) (timelinePlace, error) {
	if cursor == "" {
		return timelinePlace{seq: math.MaxInt64, at: lastTime}, nil
	}
	parts, err := openCursor(cursor, 3)
	if err != nil {
		return timelinePlace{}, err
	}
	seq, err := strconv.ParseInt(parts[0], 10, 64)
	micros, e := strconv.ParseInt(parts[1], 10, 64)
	at := time.UnixMicro(micros).UTC()
	if err != nil || e != nil || at.After(lastTime) || at.Year() < 1 || parts[2] != "" && checkID(parts[2]) != nil {
		return timelinePlace{}, invalidf("the cursor is not one that this list returned")
	}
	return timelinePlace{seq, at, parts[2]}, nil
}

// timelineMessages reads the newest messages before a place.
func timelineMessages(d Dialect, by caller, session string, before timelinePlace, limit int, list *[]placedEvent) Statement {
	return Statement{
		SQL: `SELECT m.id, m.seq, m.message_type, m.content, m.tool_calls, m.token_count, m.agent_name, m.model, m.created_at` +
			` FROM messages m` + callersMessages[d] + withoutShares + ` AND m.seq < $4 ORDER BY m.seq DESC LIMIT $5`,
		Args: []any{by.TenantID, session, by.UserID, before.seq, limit},
		Each: func(r Row) error {
			x := placedEvent{TimelineEvent: TimelineEvent{Type: TimelineMessage}}
			var meta struct {
				Seq        int64           `json:"seq"`
				TokenCount int             `json:"token_count"`
				ToolCalls  json.RawMessage `json:"tool_calls,omitempty"`
				AgentName  string          `json:"agent_name,omitempty"`
				Model      string          `json:"model,omitempty"`
			}
			err := r.Scan(&x.ID, &x.seq, &x.Name, &x.Content, &meta.ToolCalls, &meta.TokenCount, &meta.AgentName, &meta.Model, &x.At)
			meta.Seq = x.seq
			x.Metadata = encode(meta)
			*list = append(*list, x)
			return err
		},
	}
}

// began returns the time of a moment in its session's timeline, for which there is an index.
func (d Dialect) began() string { return d.orElse(`starts_timestamp`, `created_at`) }

// timelineMoments reads the newest moments before a place.
func timelineMoments(d Dialect, by caller, session string, before timelinePlace, limit int, list *[]placedEvent) Statement {
	q := newQuery(moments.selects)
	q.add(`tenant_id = `).arg(by.TenantID)
	q.owned(by.user)
	q.add(` AND source_session_id = `).arg(session)
	q.add(` AND deleted_at IS NULL AND (` + d.began() + `, id) < (`).arg(before.at)
	q.add(`, `).arg(before.id)
	q.add(`) ORDER BY ` + d.began() + ` DESC, id DESC LIMIT `).arg(limit)
	return Statement{SQL: q.String(), Args: q.args, Each: func(r Row) error {
		var m Moment
		var f fields
		if err := f.scan(r, &m); err != nil {
			return err
		}
		at := m.StartsAt
		if at.IsZero() {
			at = m.CreatedAt
		}
		*list = append(*list, placedEvent{TimelineEvent: TimelineEvent{
			Type: TimelineMoment, ID: m.ID, At: at, Name: m.MomentType, Content: m.Summary,
			Metadata: encode(struct {
				Name     string          `json:"name"`
				Ends     time.Time       `json:"ends_timestamp,omitzero"`
				Previous []string        `json:"previous_moment_keys,omitempty"`
				Metadata json.RawMessage `json:"moment_metadata,omitempty"`
			}{m.Name, m.EndsAt, m.PreviousMomentKeys, m.Metadata}),
		}})
		return nil
	}}
}
