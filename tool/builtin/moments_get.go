package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// maxMomentSummary bounds the summary of a moment in a list, in characters; LOOKUP
// returns all of it.
const maxMomentSummary = 2000

// momentRow is a moment in a list, p8's shape.
type momentRow struct {
	ID              string     `json:"id"`
	Name            string     `json:"name"`
	Key             string     `json:"key" jsonschema:"LOOKUP key gives the whole moment"`
	MomentType      string     `json:"moment_type"`
	Summary         string     `json:"summary"`
	Category        string     `json:"category"`
	TopicTags       []string   `json:"topic_tags"`
	EmotionTags     []string   `json:"emotion_tags"`
	SourceSessionID string     `json:"source_session_id"`
	StartsAt        *time.Time `json:"starts_timestamp,omitempty"`
	EndsAt          *time.Time `json:"ends_timestamp,omitempty"`
	CreatedAt       time.Time  `json:"created_at"`
}

func momentRowOf(m store.Moment) momentRow {
	row := momentRow{
		ID: m.ID, Name: m.Name, Key: store.NormalizeKey(m.Name), MomentType: m.MomentType, Summary: tool.Cut(m.Summary, maxMomentSummary),
		Category: m.Category, TopicTags: list(m.TopicTags), EmotionTags: list(m.EmotionTags), SourceSessionID: m.SourceSessionID, CreatedAt: m.CreatedAt,
	}
	if !m.StartsAt.IsZero() {
		row.StartsAt = &m.StartsAt
	}
	if !m.EndsAt.IsZero() {
		row.EndsAt = &m.EndsAt
	}
	return row
}

type getMomentsIn struct {
	MomentType string   `json:"moment_type,omitempty" jsonschema:"only moments of this type, such as dream, note, meeting, session_chunk"`
	Category   string   `json:"category,omitempty" jsonschema:"only moments of this category"`
	TopicTags  []string `json:"topic_tags,omitempty" jsonschema:"only moments that have all of these topics"`
	SessionID  string   `json:"session_id,omitempty" jsonschema:"only moments of this session"`
	After      string   `json:"after_date,omitempty" jsonschema:"only moments that began from then on: a date or an RFC 3339 time"`
	Before     string   `json:"before_date,omitempty" jsonschema:"only moments that began before then: a date or an RFC 3339 time"`
	Limit      int      `json:"limit" default:"20" minimum:"1" maximum:"100" jsonschema:"the most moments"`
	Offset     int      `json:"offset" default:"0" minimum:"0" maximum:"10000" jsonschema:"how many to skip, for the next page"`
}

type getMomentsOut struct {
	Status  string      `json:"status"`
	Results []momentRow `json:"results"`
	Count   int         `json:"count"`
	Limit   int         `json:"limit"`
	Offset  int         `json:"offset"`
	HasMore bool        `json:"has_more"`
}

func newGetMoments(s *store.Store) (tool.Tool, error) {
	return answering("get_moments",
		"Lists the user's moments, the newest first: meetings, notes, dreams, parts of sessions. Use search to find them by meaning.",
		tool.Annotations{Title: "List moments", ReadOnly: true},
		func(ctx context.Context, in getMomentsIn) (getMomentsOut, error) {
			out := getMomentsOut{Status: "success", Limit: in.Limit, Offset: in.Offset}
			f := store.Filter{Happened: true, Equal: map[string]any{}}
			for _, c := range []struct {
				column, value string
			}{{"moment_type", in.MomentType}, {"category", in.Category}, {"source_session_id", in.SessionID}} {
				if c.value != "" {
					f.Equal[c.column] = c.value
				}
			}
			if len(in.TopicTags) > 0 {
				f.HasAll = map[string][]string{"topic_tags": in.TopicTags}
			}
			var problems []string
			for _, bound := range []struct {
				name, text string
				at         *time.Time
			}{{"after_date", in.After, &f.Since}, {"before_date", in.Before, &f.Before}} {
				var ok bool
				if *bound.at, ok = parseTime(bound.text); !ok && bound.text != "" {
					problems = append(problems, fmt.Sprintf("%s is %q; write %s", bound.name, tool.Cut(bound.text, 80), timeForm))
				}
			}
			if problems != nil {
				return out, failed(strings.Join(problems, "; "))
			}
			found, more, err := findMoments(ctx, s, f, in.Offset, in.Limit)
			if err != nil {
				return out, err
			}
			out.Results = make([]momentRow, len(found))
			for i, m := range found {
				out.Results[i] = momentRowOf(m)
			}
			out.Count, out.HasMore = len(found), more
			return out, nil
		})
}

// momentPage is how many moments are read at a time.
const momentPage = 1000

// findMoments reads a page of the caller's moments; more reports whether others
// follow.
func findMoments(ctx context.Context, s *store.Store, f store.Filter, offset, limit int) (found []store.Moment, more bool, err error) {
	for skip := offset; ; {
		f.Limit = min(momentPage, skip+limit+1-len(found))
		rows, next, err := s.Moments().Find(ctx, f)
		if err != nil {
			return nil, false, err
		}
		drop := min(skip, len(rows))
		skip, found = skip-drop, append(found, rows[drop:]...)
		if len(found) > limit {
			return found[:limit], true, nil
		}
		if next == "" {
			return found, false, nil
		}
		f.After = next
	}
}
