package reminder

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/p8-org/p8/internal/zone"
	"github.com/p8-org/p8/store"
)

// The types of moments.
const (
	typeReminder     = "reminder"
	typeNotification = "notification"
)

// category is that of both types; relation is that of the edges to their origin.
const (
	category = "reminder"
	relation = "reminder"
)

// compact is the layout of times in names and keys.
const compact = "20060102T150405Z"

// details are the metadata of the moments.
type details struct {
	ReminderID string `json:"reminder_id"`
	Title      string `json:"title"`
	// For a reminder.
	Schedule   string `json:"schedule,omitempty"`
	Zone       string `json:"timezone,omitempty"`
	Recurrence string `json:"recurrence,omitempty"`
	Frequency  string `json:"frequency,omitempty"`
	// FiredAt is when a notification was made, or a reminder fired for good.
	FiredAt time.Time `json:"fired_at,omitzero"`
	// For a notification.
	Due         time.Time `json:"due,omitzero"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
}

func detailsOf(m store.Moment) (details, error) {
	var d details
	if err := json.Unmarshal(m.Metadata, &d); err != nil {
		return d, fmt.Errorf("the metadata of the moment %s is not that of a reminder", m.ID)
	}
	return d, nil
}

// with returns metadata with one more key; keys of other programs stay.
func with(metadata json.RawMessage, key string, at time.Time) (json.RawMessage, error) {
	all := map[string]any{}
	if err := json.Unmarshal(metadata, &all); err != nil {
		return nil, err
	}
	all[key] = at.UTC().Truncate(time.Second)
	return json.Marshal(all)
}

// zoneOf returns the zone in which a reminder is shown.
func (d details) zoneOf() *time.Location {
	if loc, err := zone.Named(d.Zone); err == nil {
		return loc
	}
	if t, err := time.Parse("UTC-07:00", d.Zone); err == nil {
		return fixed(t)
	}
	return time.UTC
}

// next returns when a recurring reminder fires after now, zero for never.
func (d details) next(due, now time.Time) (time.Time, error) {
	s, err := parseSchedule(d.Schedule, d.zoneOf())
	if err != nil {
		return time.Time{}, err
	}
	return s.next(due.UTC(), now), nil
}

// reminderOf converts a moment to a reminder.
func reminderOf(m store.Moment) (Reminder, error) {
	d, err := detailsOf(m)
	return Reminder{
		ID: m.ID, MomentID: m.ID, SessionID: m.SourceSessionID, Name: d.Title, Description: m.Summary,
		Frequency: d.Frequency, Recurrence: d.Recurrence, Schedule: d.Schedule, Zone: d.Zone,
		Next: m.StartsAt.In(d.zoneOf()), Tags: m.TopicTags, CreatedAt: m.CreatedAt,
	}, err
}

// notificationOf converts a moment to a notification.
func notificationOf(m store.Moment) (Notification, error) {
	d, err := detailsOf(m)
	return Notification{
		ID: m.ID, ReminderID: d.ReminderID, MomentID: m.ID, Name: d.Title, Description: m.Summary,
		SessionID: m.SourceSessionID, Due: d.Due.UTC(), FiredAt: d.FiredAt.UTC(), Tags: m.TopicTags,
	}, err
}

// edges returns the edge from a moment to the session that it comes from, if there is
// one.
func edges(session string) []store.Edge {
	if session == "" {
		return nil
	}
	return []store.Edge{{Target: "session-" + session, Relation: relation, Weight: 1}}
}
