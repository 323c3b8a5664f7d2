// Package moments serves the caller's moments: the list, the feed of days, the search,
// and the moments that a client writes.
package moments

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/knowledge"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/sessions"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Moments are the caller's. Implemented by store.Repository[store.Moment].
type Moments interface {
	Get(ctx context.Context, id string) (store.Moment, error)
	ByName(ctx context.Context, name string) (store.Moment, error)
	Find(ctx context.Context, f store.Filter) (rows []store.Moment, next string, err error)
	PutWith(ctx context.Context, o store.PutOptions, rows ...*store.Moment) error
	Delete(ctx context.Context, nameOrID string) error
}

// Feed is what happened to the caller, by day. Implemented by store.Diary.
type Feed interface {
	Feed(ctx context.Context, f store.FeedFilter) ([]store.FeedDay, error)
	Day(ctx context.Context, date string, zone *time.Location) (store.FeedDay, error)
}

// Reminders deletes the moments that are reminders. Implemented by *reminder.Service.
type Reminders interface {
	Delete(ctx context.Context, id string) error
}

// Options are what the routes work with. Routes whose part is nil answer that the
// server has none.
type Options struct {
	Moments Moments
	Feed    Feed
	// Zone returns the time zone of the caller's profile, nil if it names none. Zone may be
	// nil.
	Zone func(ctx context.Context) (*time.Location, error)
	// Sessions finds the session of a moment.
	Sessions sessions.Finder
	// Engine searches moments.
	Engine    knowledge.Engine
	Reminders Reminders
}

type handlers struct {
	api *rest.API
	o   Options
}

// Routes adds /moments. Sessions and reminders have routes of their own under it.
func Routes(api *rest.API, o Options) {
	h := &handlers{api: api, o: o}
	rest.Register(api, rest.Resource("list-moments", http.MethodGet, "/moments", "Your moments, the newest first", "moments"), h.list)
	feed := rest.Resource("feed", http.MethodGet, "/moments/feed", "What happened, day by day, the newest first", "moments")
	feed.Description = "For each active day a daily_summary, which is computed and not stored, then its moments. The next page begins before the oldest day of this one."
	rest.Register(api, feed, h.feed)
	rest.Register(api, rest.Resource("today", http.MethodGet, "/moments/today", "The summary of today", "moments"), h.today)
	search := rest.Resource("search-moments", http.MethodGet, "/moments/search", "Search your moments", "moments")
	search.Description = "By topic first, then by meaning, then by similar names. Summaries of sessions are left out."
	rest.Register(api, search, h.search)
	rest.Register(api, rest.Resource("named-moment", http.MethodGet, "/moments/by-name/{name}", "One moment by its name", "moments"), h.named)
	rest.Register(api, rest.Resource("get-moment", http.MethodGet, "/moments/{id}", "One moment and its session", "moments"), h.show)
	rest.Register(api, rest.Resource("delete-moment", http.MethodDelete, "/moments/{id}", "Delete a moment of yours; a deleted reminder never fires", "moments"), h.delete)
	h.writeRoutes()
}

type (
	listMomentsInput struct {
		Limit     int      `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string   `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Offset    int      `query:"offset" minimum:"0" maximum:"500" doc:"How many rows to skip, instead of a cursor."`
		SessionID string   `query:"session_id" maxLength:"128" doc:"Only moments of this session."`
		Type      string   `query:"moment_type" maxLength:"100" doc:"Only moments of this type: session_chunk, content_upload, dream, note, …."`
		Category  string   `query:"category" maxLength:"100" doc:"Only moments of this category."`
		Topics    []string `query:"topic_tags" maxItems:"20" doc:"Only moments with all of these topics, separated by commas."`
		After     string   `query:"after_date" maxLength:"40" doc:"Only moments that began on this day or later: 2026-02-21, or a time."`
		Before    string   `query:"before_date" maxLength:"40" doc:"Only moments that began before this day: 2026-02-21, or a time."`
	}
	momentInput struct {
		ID string `path:"id" maxLength:"128" doc:"The moment's id."`
	}
	namedMomentInput struct {
		Name string `path:"name" maxLength:"255" doc:"The moment's name, its key or its id."`
	}
	// fullMoment is a moment with its session.
	fullMoment struct {
		store.Moment
		sessionInfo
	}
	// sessionInfo are the fields of its session that a moment shows.
	sessionInfo struct {
		SessionName        string          `json:"session_name,omitempty"`
		SessionTitle       string          `json:"session_title,omitempty"`
		SessionDescription string          `json:"session_description,omitempty"`
		SessionMetadata    json.RawMessage `json:"session_metadata,omitempty"`
	}
)

func (h *handlers) list(ctx context.Context, in *listMomentsInput) (*rest.List[store.Moment], error) {
	if h.o.Moments == nil {
		return nil, h.api.Missing("moments")
	}
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	rows, next, err := h.o.Moments.Find(ctx, f)
	if err != nil {
		return nil, h.api.About(ctx, "moment", err)
	}
	rows = rows[min(in.Offset, len(rows)):]
	return rest.NewList(rows, rest.Query("session_id", in.SessionID, "moment_type", in.Type, "category", in.Category,
		"topic_tags", strings.Join(in.Topics, ","), "after_date", in.After, "before_date", in.Before), in.Limit, next), nil
}

// filter checks the parameters and returns the filter that they ask for.
func (in *listMomentsInput) filter() (store.Filter, error) {
	f := store.Filter{Happened: true, Limit: in.Limit + in.Offset, After: in.Cursor, Equal: map[string]any{}}
	if in.Offset > 0 && in.Cursor != "" {
		return f, problem.Invalid("offset", "offset is %s, and there is a cursor; send one of them", strconv.Itoa(in.Offset))
	}
	for column, value := range map[string]string{"source_session_id": in.SessionID, "moment_type": in.Type, "category": in.Category} {
		if value != "" {
			f.Equal[column] = value
		}
	}
	topics, wrong := field.Tags("topic_tags", in.Topics)
	if len(topics) > 0 {
		f.HasAll = map[string][]string{"topic_tags": topics}
	}
	if wrong == nil {
		f.Since, wrong = field.Time("after_date", in.After)
	}
	if wrong == nil {
		f.Before, wrong = field.Time("before_date", in.Before)
	}
	if wrong != nil {
		return f, wrong
	}
	return f, nil
}

func (h *handlers) show(ctx context.Context, in *momentInput) (*rest.Body[fullMoment], error) {
	if h.o.Moments == nil {
		return nil, h.api.Missing("moments")
	}
	m, err := h.o.Moments.Get(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "moment", err)
	}
	return h.full(ctx, m), nil
}

// named finds a moment by its name, its id, or its name as LOOKUP reads it.
func (h *handlers) named(ctx context.Context, in *namedMomentInput) (*rest.Body[fullMoment], error) {
	if h.o.Moments == nil {
		return nil, h.api.Missing("moments")
	}
	m, err := h.o.Moments.ByName(ctx, in.Name)
	if errors.Is(err, store.ErrNotFound) && uuid.Validate(in.Name) == nil {
		m, err = h.o.Moments.Get(ctx, in.Name)
	}
	if errors.Is(err, store.ErrNotFound) && h.o.Engine != nil && store.NormalizeKey(in.Name) != "" {
		m, err = h.byKey(ctx, in.Name)
	}
	if err != nil {
		return nil, h.api.About(ctx, "moment", err)
	}
	return h.full(ctx, m), nil
}

func (h *handlers) byKey(ctx context.Context, key string) (store.Moment, error) {
	res, err := h.o.Engine.Run(ctx, rem.Lookup{Keys: []string{key}}.String())
	if err != nil {
		return store.Moment{}, err
	}
	for _, row := range res.Results {
		if row.EntityType != store.TypeMoment {
			continue
		}
		var m store.Moment
		err := json.Unmarshal(row.Data, &m)
		return m, err
	}
	return store.Moment{}, store.ErrNotFound
}

// full adds a moment's session, unless the session is gone.
func (h *handlers) full(ctx context.Context, m store.Moment) *rest.Body[fullMoment] {
	return &rest.Body[fullMoment]{Body: fullMoment{m, h.sessionInfo(ctx, m.SourceSessionID)}}
}

func (h *handlers) sessionInfo(ctx context.Context, id string) sessionInfo {
	if id == "" || h.o.Sessions == nil {
		return sessionInfo{}
	}
	s, err := h.o.Sessions.Session(ctx, id)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			h.api.Logger.WarnContext(ctx, "read the session of a moment", "error", err, "request_id", web.RequestID(ctx))
		}
		return sessionInfo{}
	}
	return sessionInfo{s.Name, s.Title, s.Description, s.Metadata}
}

// delete deletes a moment. A reminder is deleted with its job.
func (h *handlers) delete(ctx context.Context, in *momentInput) (*rest.Body[rest.Forgotten], error) {
	if h.o.Moments == nil {
		return nil, h.api.Missing("moments")
	}
	m, err := h.o.Moments.Get(ctx, in.ID)
	switch {
	case err != nil:
	case m.MomentType != store.MomentReminder:
		err = h.o.Moments.Delete(ctx, m.ID)
	case h.o.Reminders == nil:
		err = h.api.Missing("reminders")
	default:
		err = h.o.Reminders.Delete(ctx, m.ID)
	}
	if err != nil {
		return nil, h.api.About(ctx, "moment", err)
	}
	return &rest.Body[rest.Forgotten]{Body: rest.Forgotten{Deleted: true, ID: m.ID, CronCancelled: m.MomentType == store.MomentReminder}}, nil
}
