package store

import (
	"cmp"
	"encoding/json"
	"time"
)

func (m *Moment) fields(f *fields) {
	f.require("name", &m.Name)
	f.add("moment_type", &m.MomentType)
	f.add("summary", &m.Summary)
	f.add("image_uri", &m.ImageURI)
	f.add("starts_timestamp", &m.StartsAt)
	f.add("ends_timestamp", &m.EndsAt)
	f.add("present_persons", &m.PresentPersons)
	f.add("emotion_tags", &m.EmotionTags)
	f.add("topic_tags", &m.TopicTags)
	f.add("category", &m.Category)
	f.add("source_session_id", &m.SourceSessionID)
	f.add("previous_moment_keys", &m.PreviousMomentKeys)
	f.add("rating", &m.Rating)
	m.Base.fields(f)
}

// begin sets the time of a moment that names none: its end, else its creation.
func (m *Moment) begin() {
	if m.StartsAt.IsZero() {
		m.StartsAt = cmp.Or(m.EndsAt, m.CreatedAt)
	}
}

// Happened returns the time of a moment in the feed: its beginning, or its creation if it has no
// other time. A reminder happens when it is made, not when it is due.
func (m *Moment) Happened() time.Time {
	if m.MomentType == MomentReminder || m.StartsAt.IsZero() {
		return m.CreatedAt
	}
	return m.StartsAt
}

func (m *Moment) identity() (column, value string) { return "name", m.Name }

func (m *Moment) entry() entry { return m.keyed(m.Name, cmp.Or(m.Summary, m.Name)) }

func (m *Moment) check() error {
	if len(m.PresentPersons) == 0 {
		m.PresentPersons = json.RawMessage("[]")
	}
	m.StartsAt, m.EndsAt = m.StartsAt.UTC().Truncate(time.Microsecond), m.EndsAt.UTC().Truncate(time.Microsecond)
	if !m.StartsAt.IsZero() && !m.EndsAt.IsZero() && m.EndsAt.Before(m.StartsAt) {
		return invalidf("ends_timestamp is before starts_timestamp")
	}
	return firstError(
		checkName(m.Name),
		cleanTexts("moment_type", &m.MomentType, "summary", &m.Summary, "image_uri", &m.ImageURI, "category", &m.Category,
			"source_session_id", &m.SourceSessionID),
		checkStart("present_persons", &m.PresentPersons, '['),
		cleanList("emotion_tags", m.EmotionTags),
		cleanList("topic_tags", m.TopicTags),
		cleanList("previous_moment_keys", m.PreviousMomentKeys),
		checkRating(m.Rating, 1),
		m.Base.check(),
	)
}

func (x *Feedback) fields(f *fields) {
	f.add("session_id", &x.SessionID)
	f.add("message_id", &x.MessageID)
	f.add("rating", &x.Rating)
	f.add("categories", &x.Categories)
	f.add("comment", &x.Comment)
	f.add("trace_id", &x.TraceID)
	f.add("span_id", &x.SpanID)
	x.Base.fields(f)
}

func (x *Feedback) identity() (column, value string) { return "", "" }

func (x *Feedback) entry() entry { return entry{} }

func (x *Feedback) check() error {
	return firstError(
		cleanTexts("session_id", &x.SessionID, "message_id", &x.MessageID, "comment", &x.Comment,
			"trace_id", &x.TraceID, "span_id", &x.SpanID),
		cleanList("categories", x.Categories),
		checkRating(x.Rating, -1),
		x.Base.check(),
	)
}
