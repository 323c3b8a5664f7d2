package moments

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

type (
	feedInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many active days to return."`
		Before string `query:"before_date" maxLength:"40" doc:"Only days before this one, such as 2026-02-21."`
		Future bool   `query:"include_future" doc:"Include moments that have not begun; reminders are always included."`
		Zone   string `query:"tz" maxLength:"64" doc:"The time zone of the days, by its IANA name, such as Europe/Berlin; that of your profile by default, else UTC."`
	}
	todayInput struct {
		Zone string `query:"tz" maxLength:"64" doc:"The time zone of the day, by its IANA name, such as Europe/Berlin; that of your profile by default, else UTC."`
	}
	// feedOutput is a page of the events of whole days.
	feedOutput struct {
		Link string `header:"Link" doc:"The earlier days, <…>; rel=\"next\"; absent if this page has fewer than limit."`
		Body []feedEvent
	}
	// feedEvent is the summary of a day, or one of its moments.
	feedEvent struct {
		Type       string    `json:"event_type" enum:"daily_summary,moment"`
		ID         string    `json:"event_id"`
		Date       string    `json:"event_date"`
		At         time.Time `json:"event_timestamp"`
		Name       string    `json:"name"`
		MomentType string    `json:"moment_type,omitempty"`
		Summary    string    `json:"summary,omitempty"`
		ImageURI   string    `json:"image_uri,omitempty"`
		StartsAt   time.Time `json:"starts_timestamp,omitzero"`
		EndsAt     time.Time `json:"ends_timestamp,omitzero"`
		Persons    any       `json:"present_persons,omitempty"`
		Emotions   []string  `json:"emotion_tags,omitempty"`
		Topics     []string  `json:"topic_tags,omitempty"`
		Category   string    `json:"category,omitempty"`
		Rating     int       `json:"rating,omitempty"`
		SessionID  string    `json:"session_id,omitempty"`
		sessionInfo
		Edges    []store.Edge `json:"graph_edges,omitempty"`
		Metadata any          `json:"metadata,omitempty"`
	}
	// dayMetadata counts the rows of a day.
	dayMetadata struct {
		Messages  int                 `json:"message_count"`
		Tokens    int                 `json:"total_tokens"`
		Sessions  int                 `json:"session_count"`
		Moments   int                 `json:"moment_count"`
		Reminders int                 `json:"reminder_count"`
		List      []store.FeedSession `json:"sessions"`
	}
)

// The types of moments that are computed and not stored.
const (
	dailySummary = "daily_summary"
	todaySummary = "today_summary"
)

// maxFeedSessions bounds the sessions that are read for a page. Moments of further ones
// only have the session's id.
const maxFeedSessions = 200

// zone returns the time zone of the feed's days: the one that the request names, else that
// of the caller's profile, else UTC. It fails if the server has no feed.
func (h *handlers) zone(ctx context.Context, named string) (*time.Location, error) {
	at, wrong := field.Zone("tz", named)
	if wrong == nil && h.o.Feed == nil {
		wrong = h.api.Missing("feed")
	}
	if wrong != nil {
		return nil, wrong
	}
	if at == nil && h.o.Zone != nil {
		var err error
		if at, err = h.o.Zone(ctx); err != nil {
			return nil, h.api.About(ctx, "user", err)
		}
	}
	return cmp.Or(at, time.UTC), nil
}

func (h *handlers) feed(ctx context.Context, in *feedInput) (*feedOutput, error) {
	if wrong := field.Day("before_date", in.Before); wrong != nil {
		return nil, wrong
	}
	at, err := h.zone(ctx, in.Zone)
	if err != nil {
		return nil, err
	}
	days, err := h.o.Feed.Feed(ctx, store.FeedFilter{Limit: in.Limit, Before: in.Before, Zone: at, Future: in.Future})
	if err != nil {
		return nil, h.api.About(ctx, "day", err)
	}
	out := &feedOutput{Body: []feedEvent{}}
	today := h.api.Now().In(at)
	infos := map[string]sessionInfo{}
	for i := range days {
		out.Body = append(out.Body, newDay(&days[i], today))
		for j := range days[i].Moments {
			m := &days[i].Moments[j]
			info, known := infos[m.SourceSessionID]
			if !known && len(infos) < maxFeedSessions {
				info = h.sessionInfo(ctx, m.SourceSessionID)
				infos[m.SourceSessionID] = info
			}
			out.Body = append(out.Body, newFeedEvent(days[i].Date, m, info))
		}
	}
	if n := len(days); n == in.Limit {
		next := rest.Query("limit", strconv.Itoa(in.Limit), "before_date", days[n-1].Date, "tz", in.Zone)
		if in.Future {
			next.Set("include_future", "true")
		}
		out.Link = rest.NextPage(next)
	}
	return out, nil
}

func (h *handlers) today(ctx context.Context, in *todayInput) (*rest.Body[feedEvent], error) {
	at, err := h.zone(ctx, in.Zone)
	if err != nil {
		return nil, err
	}
	now := h.api.Now().In(at)
	d, err := h.o.Feed.Day(ctx, now.Format(time.DateOnly), at)
	if err != nil {
		return nil, h.api.About(ctx, "day", err)
	}
	e := newDay(&d, now)
	e.MomentType = todaySummary
	return &rest.Body[feedEvent]{Body: e}, nil
}

// newDay returns the summary of a day. today is the time now, in the feed's zone.
func newDay(d *store.FeedDay, today time.Time) feedEvent {
	name := "daily-" + d.Date
	e := feedEvent{
		Type: dailySummary, MomentType: dailySummary, ID: d.SessionID, SessionID: d.SessionID, Date: d.Date, Name: name,
		sessionInfo: sessionInfo{SessionName: name},
		Metadata:    dayMetadata{d.Messages, d.Tokens, d.SessionCount, d.MomentCount, d.Reminders, append([]store.FeedSession{}, d.Sessions...)},
	}
	label := d.Date
	if begins, err := time.ParseInLocation(time.DateOnly, d.Date, today.Location()); err == nil {
		e.At = begins
		switch d.Date {
		case today.Format(time.DateOnly):
			label = "Today"
		case today.AddDate(0, 0, -1).Format(time.DateOnly):
			label = "Yesterday"
		default:
			label = begins.Format("Jan 02")
		}
	}
	e.Summary = fmt.Sprintf("%s: %d messages across %d session(s), %d tokens. %d moment(s).",
		label, d.Messages, d.SessionCount, d.Tokens, d.MomentCount)
	return e
}

func newFeedEvent(date string, m *store.Moment, info sessionInfo) feedEvent {
	e := feedEvent{
		Type: store.TimelineMoment, ID: m.ID, Date: date, At: m.StartsAt, Name: m.Name, MomentType: m.MomentType,
		Summary: m.Summary, ImageURI: m.ImageURI, StartsAt: m.StartsAt, EndsAt: m.EndsAt, Emotions: m.EmotionTags,
		Topics: m.TopicTags, Category: m.Category, Rating: m.Rating, SessionID: m.SourceSessionID, sessionInfo: info, Edges: m.GraphEdges,
	}
	if e.At.IsZero() {
		e.At = m.CreatedAt
	}
	if len(m.PresentPersons) > 0 && string(m.PresentPersons) != "[]" {
		e.Persons = m.PresentPersons
	}
	if len(m.Metadata) > 0 {
		e.Metadata = json.RawMessage(m.Metadata)
	}
	return e
}
