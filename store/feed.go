package store

import (
	"context"
	"encoding/json"
	"errors"
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

// Timeline is the newest part of a session's messages and moments, oldest first, and
// the cursor of the page before it, "" at the beginning. A moment stands at its
// starts_timestamp, or where it was made.
func (s *Store) Timeline(ctx context.Context, sessionID string, f TimelineFilter) ([]TimelineEvent, string, error) {
	return nil, "", errors.ErrUnsupported
}

// FeedFilter chooses days of the caller's feed.
type FeedFilter struct {
	// Limit is the most active days; 20 when 0, 100 at most.
	Limit int
	// Before leaves out that day and later ones ("2026-02-21"); "" none. Paging gives
	// the oldest day of the page before.
	Before string
	// Zone is where days begin and end; nil is UTC.
	Zone *time.Location
	// Future includes moments that have not begun; reminders always are.
	Future bool
}

// FeedDay is a day on which something happened.
type FeedDay struct {
	// Date is as in "2026-02-21".
	Date string `json:"date"`
	// SessionID is the id of the day's own session, the same for a user and date
	// whoever asks.
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
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Messages int    `json:"message_count"`
}

// Feed is the caller's active days, the newest first.
func (s *Store) Feed(ctx context.Context, f FeedFilter) ([]FeedDay, error) {
	return nil, errors.ErrUnsupported
}

// Day is one day of the feed ("2026-02-21"), with nothing in it if nothing happened.
func (s *Store) Day(ctx context.Context, date string, zone *time.Location) (FeedDay, error) {
	return FeedDay{}, errors.ErrUnsupported
}
