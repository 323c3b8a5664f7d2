package store

import (
	"context"
	"time"
)

// FeedbackFilter selects feedback; the newest comes first.
type FeedbackFilter struct {
	// SessionID, MessageID and UserID choose rows with that value; "" is any.
	SessionID, MessageID, UserID string
	// Least and Most bound the rating, both inclusive; 0 is no bound. Comments without a rating
	// are within no bounds.
	Least, Most int
	// Since and Before bound the creation: since <= created_at < before; zero is no bound.
	Since, Before time.Time
	// Limit is 50 if 0, and at most 500.
	Limit  int
	Cursor string
}

// ListFeedback lists the caller's feedback, that of the whole tenant to an admin.
func (s *Store) ListFeedback(ctx context.Context, f FeedbackFilter) (list []Feedback, next string, err error) {
	limit := page(f.Limit, 50, 500)
	err = s.read(ctx, "list feedback", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		q := newQuery(feedback.selects)
		q.add(`deleted_at IS NULL AND tenant_id = `).arg(by.TenantID)
		if !by.Administers() {
			q.owned(by.user)
		}
		for _, x := range []struct{ column, value string }{{"session_id", f.SessionID}, {"message_id", f.MessageID}, {"user_id", f.UserID}} {
			if x.value != "" {
				q.add(` AND ` + x.column + ` = `).arg(storable(x.value))
			}
		}
		if f.Least != 0 {
			q.add(` AND rating >= `).arg(f.Least)
		}
		if f.Most != 0 {
			q.add(` AND rating <= `).arg(f.Most)
		}
		if !f.Since.IsZero() {
			q.add(` AND created_at >= `).arg(f.Since.UTC())
		}
		if !f.Before.IsZero() {
			q.add(` AND created_at < `).arg(f.Before.UTC())
		}
		if err := q.beyond(f.Cursor, "created_at", "<"); err != nil {
			return err
		}
		q.add(` ORDER BY created_at DESC, id DESC LIMIT `).arg(limit + 1)
		list = nil
		return feedback.read(ctx, c, q, func(rec record) error {
			list = append(list, *rec.(*Feedback))
			return nil
		})
	})
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(x *Feedback) (time.Time, string) { return x.CreatedAt, x.ID })
	return list, next, nil
}

// TracedMessage returns the id of the newest answer of a trace in the caller's sessions.
func (s *Store) TracedMessage(ctx context.Context, traceID string) (id string, err error) {
	err = s.read(ctx, "find the message of a trace", func(c Conn, by caller) error {
		guest := by.guest()
		by, err := by.in(by.Shared.Session)
		if err != nil {
			return err
		}
		q := newQuery(`SELECT id FROM messages WHERE message_type = '` + MessageAssistant + `' AND agent_path IS NULL AND deleted_at IS NULL AND tenant_id = `)
		q.arg(by.TenantID)
		q.add(` AND trace_id = `).arg(storable(traceID))
		q.add(` AND ` + s.dialect.ownerOf(``) + ` = `).arg(by.UserID)
		if guest {
			q.add(` AND session_id = `).arg(by.Shared.Session)
		}
		q.add(` ORDER BY created_at DESC LIMIT 1`)
		found, err := one(ctx, c, q.String(), []any{&id}, q.args...)
		if err == nil && !found {
			err = notFound("trace", traceID)
		}
		return err
	})
	return id, err
}
