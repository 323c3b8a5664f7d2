package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

type (
	listMomentsInput struct {
		Limit     int      `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string   `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Offset    int      `query:"offset" minimum:"0" maximum:"500" doc:"How many rows to leave out, in place of a cursor."`
		SessionID string   `query:"session_id" maxLength:"128" doc:"Only moments of this session."`
		Type      string   `query:"moment_type" maxLength:"100" doc:"Only moments of this type: session_chunk, content_upload, dream, note, …."`
		Category  string   `query:"category" maxLength:"100" doc:"Only moments of this category."`
		Topics    []string `query:"topic_tags" maxItems:"20" doc:"Only moments that have all of these topics; with commas."`
		After     string   `query:"after_date" maxLength:"40" doc:"Only moments made on this day or later: 2026-02-21, or a time."`
		Before    string   `query:"before_date" maxLength:"40" doc:"Only moments made before this day: 2026-02-21, or a time."`
	}
	momentInput struct {
		ID string `path:"id" maxLength:"128" doc:"The moment's id."`
	}
	namedMomentInput struct {
		Name string `path:"name" maxLength:"255" doc:"The moment's name, its key or its id."`
	}
	// fullMoment is a moment and the session that it is of.
	fullMoment struct {
		store.Moment
		sessionInfo
	}
	// sessionInfo is what a moment shows of its session.
	sessionInfo struct {
		SessionName        string          `json:"session_name,omitempty"`
		SessionDescription string          `json:"session_description,omitempty"`
		SessionMetadata    json.RawMessage `json:"session_metadata,omitempty"`
	}
	// forgotten says that a row is deleted (p8).
	forgotten struct {
		Deleted bool   `json:"deleted"`
		ID      string `json:"id"`
		// CronCancelled: a reminder that is deleted never fires.
		CronCancelled bool `json:"cron_cancelled,omitempty"`
	}
)

func (h *Handler) momentRoutes(api huma.API) {
	huma.Register(api, resource("list-moments", http.MethodGet, "/moments", "Your moments, the newest first", "moments"), h.listMoments)
	feed := resource("feed", http.MethodGet, "/moments/feed", "What happened, day by day, the newest first", "moments")
	feed.Description = "For each day with something in it a daily_summary, which no row stands behind, then its moments. The next page begins before the oldest day of this one."
	huma.Register(api, feed, h.feed)
	huma.Register(api, resource("today", http.MethodGet, "/moments/today", "The summary of today", "moments"), h.today)
	huma.Register(api, resource("moment-timeline", http.MethodGet, "/moments/session/{id}", "The messages and moments of a session", "moments"), h.timeline)
	huma.Register(api, resource("moment-reminders", http.MethodGet, "/moments/reminders", "Your reminders, the next one first", "reminders"), h.listReminders)
	search := resource("search-moments", http.MethodGet, "/moments/search", "Moments about something", "moments")
	search.Description = "Those with the topic first, then those of that meaning, then those with a similar name. Summaries of sessions are left out."
	huma.Register(api, search, h.searchMoments)
	huma.Register(api, resource("named-moment", http.MethodGet, "/moments/by-name/{name}", "One moment by its name", "moments"), h.namedMoment)
	huma.Register(api, resource("get-moment", http.MethodGet, "/moments/{id}", "One moment and its session", "moments"), h.showMoment)
	huma.Register(api, resource("delete-moment-reminder", http.MethodDelete, "/moments/reminders/{id}", "Delete a reminder, which never fires then", "reminders"), h.deleteReminder)
	huma.Register(api, resource("delete-moment", http.MethodDelete, "/moments/{id}", "Delete a moment of yours; a reminder never fires then", "moments"), h.deleteMoment)
	h.momentWrites(api)
}

func (h *Handler) listMoments(ctx context.Context, in *listMomentsInput) (*list[store.Moment], error) {
	if h.o.Moments == nil {
		return nil, h.missing("moments")
	}
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	rows, next, err := h.o.Moments.Find(ctx, f)
	if err != nil {
		return nil, h.restFailure(ctx, "moment", err)
	}
	rows = rows[min(in.Offset, len(rows)):]
	return newList(rows, query("session_id", in.SessionID, "moment_type", in.Type, "category", in.Category,
		"topic_tags", strings.Join(in.Topics, ","), "after_date", in.After, "before_date", in.Before), in.Limit, next), nil
}

// filter is what the parameters ask for.
func (in *listMomentsInput) filter() (store.Filter, error) {
	f := store.Filter{Limit: in.Limit + in.Offset, After: in.Cursor, Equal: map[string]any{}}
	if in.Offset > 0 && in.Cursor != "" {
		return f, invalid("offset", "offset is %s, and there is a cursor; send one of them", strconv.Itoa(in.Offset))
	}
	for column, value := range map[string]string{"source_session_id": in.SessionID, "moment_type": in.Type, "category": in.Category} {
		if value != "" {
			f.Equal[column] = value
		}
	}
	topics, wrong := tags("topic_tags", in.Topics)
	if len(topics) > 0 {
		f.HasAll = map[string][]string{"topic_tags": topics}
	}
	if wrong == nil {
		f.Since, wrong = moment("after_date", in.After)
	}
	if wrong == nil {
		f.Before, wrong = moment("before_date", in.Before)
	}
	if wrong != nil {
		return f, wrong
	}
	return f, nil
}

func (h *Handler) showMoment(ctx context.Context, in *momentInput) (*body[fullMoment], error) {
	if h.o.Moments == nil {
		return nil, h.missing("moments")
	}
	m, err := h.o.Moments.Get(ctx, in.ID)
	if err != nil {
		return nil, h.restFailure(ctx, "moment", err)
	}
	return h.full(ctx, m), nil
}

// namedMoment finds a moment by its name, its id, or its name as LOOKUP reads it.
func (h *Handler) namedMoment(ctx context.Context, in *namedMomentInput) (*body[fullMoment], error) {
	if h.o.Moments == nil {
		return nil, h.missing("moments")
	}
	m, err := h.o.Moments.ByName(ctx, in.Name)
	if errors.Is(err, store.ErrNotFound) && uuid.Validate(in.Name) == nil {
		m, err = h.o.Moments.Get(ctx, in.Name)
	}
	if errors.Is(err, store.ErrNotFound) && h.o.Knowledge != nil && store.NormalizeKey(in.Name) != "" {
		m, err = h.momentByKey(ctx, in.Name)
	}
	if err != nil {
		return nil, h.restFailure(ctx, "moment", err)
	}
	return h.full(ctx, m), nil
}

func (h *Handler) momentByKey(ctx context.Context, key string) (store.Moment, error) {
	res, err := h.o.Knowledge.Run(ctx, rem.Lookup{Keys: []string{key}}.String())
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

// full adds a moment's session. One that is gone leaves the moment as it is.
func (h *Handler) full(ctx context.Context, m store.Moment) *body[fullMoment] {
	return &body[fullMoment]{fullMoment{m, h.sessionInfo(ctx, m.SourceSessionID)}}
}

func (h *Handler) sessionInfo(ctx context.Context, id string) sessionInfo {
	if id == "" || h.o.Store == nil {
		return sessionInfo{}
	}
	s, err := h.ownSession(ctx, id)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			h.o.Logger.WarnContext(ctx, "read the session of a moment", "error", err, "request_id", requestID(ctx))
		}
		return sessionInfo{}
	}
	return sessionInfo{s.Name, s.Description, s.Metadata}
}

// deleteMoment forgets a moment; with a reminder goes what would have fired.
func (h *Handler) deleteMoment(ctx context.Context, in *momentInput) (*body[forgotten], error) {
	if h.o.Moments == nil {
		return nil, h.missing("moments")
	}
	m, err := h.o.Moments.Get(ctx, in.ID)
	switch {
	case err != nil:
	case m.MomentType != store.MomentReminder:
		err = h.o.Moments.Delete(ctx, m.ID)
	case h.o.Reminders == nil:
		err = h.missing("reminders")
	default:
		err = h.o.Reminders.Delete(ctx, m.ID)
	}
	if err != nil {
		return nil, h.restFailure(ctx, "moment", err)
	}
	return &body[forgotten]{forgotten{Deleted: true, ID: m.ID, CronCancelled: m.MomentType == store.MomentReminder}}, nil
}
