package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

type (
	ownSessionInput struct {
		ID string `path:"id" maxLength:"128" doc:"The session's id."`
	}
	contextInput struct {
		ID    string `path:"id" maxLength:"128" doc:"The session's id."`
		Agent string `query:"agent" maxLength:"255" doc:"The agent that would answer; the session's own without it."`
	}
	timelineInput struct {
		ID     string `path:"id" maxLength:"128" doc:"The session's id."`
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many events to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
	}
	// compactBody is the body of POST /sessions/{id}/compact.
	compactBody struct {
		Threshold *int `json:"threshold,omitempty" minimum:"1" maximum:"1000000" doc:"How many tokens a moment sums up at least; 200 without it."`
	}
)

func (*compactBody) example() string { return `{"threshold":200}` }

// The threshold of a session that somebody wants summed up now (p8).
const (
	defaultCompact = 200
	maxCompact     = 1_000_000
)

func (h *Handler) memoryRoutes(api huma.API) {
	del := resource("delete-session", http.MethodDelete, "/sessions/{id}", "Delete a session of yours", "sessions")
	del.Description = "A run under way is stopped first. The session's rows are hidden for good, what its runs said is forgotten, and its id cannot be used again."
	huma.Register(api, del, h.deleteSession)
	seen := resource("session-context", http.MethodGet, "/sessions/{id}/context", "What the next turn of a session would send to the model", "sessions")
	seen.Description = "Every part in its order, with the tokens that it takes, without a new message."
	huma.Register(api, seen, h.sessionContext)
	line := resource("session-timeline", http.MethodGet, "/sessions/{id}/timeline", "The messages and moments of a session", "sessions")
	line.Description = "The newest part first, each page in the order of time; the next page is the older one."
	huma.Register(api, line, h.timeline)

	h.mux.HandleFunc("POST /sessions/{id}/compact", h.compact)
	op := resource("compact-session", http.MethodPost, "/sessions/{id}/compact", "Sum up what a session has said since its last moment", "sessions")
	op.Parameters = append(op.Parameters, text("id", "path", "The session's id."))
	handled(api, op, compactBody{}, map[string]string{"200": "{session_id, moments, unsummarised_tokens}.", "404": "No such session."})
}

// ownSession is a session that the caller may change: others of the tenant read one
// without a user.
func (h *Handler) ownSession(ctx context.Context, id string) (store.Session, error) {
	if h.o.Store == nil {
		return store.Session{}, noStore()
	}
	who, err := identity.From(ctx)
	if err != nil {
		return store.Session{}, err
	}
	s, err := h.o.Store.Session(ctx, id)
	if err == nil && s.UserID != who.UserID {
		err = store.ErrNotFound
	}
	return s, err
}

func (h *Handler) sessionContext(ctx context.Context, in *contextInput) (*body[chat.Preview], error) {
	if h.o.Preview == nil {
		return nil, h.missing("preview of turns")
	}
	p, err := h.o.Preview.Preview(ctx, in.ID, in.Agent)
	if err != nil {
		return nil, h.restFailure(ctx, "session", err)
	}
	if p.Parts == nil {
		p.Parts = []chat.PreviewPart{}
	}
	return &body[chat.Preview]{p}, nil
}

func (h *Handler) timeline(ctx context.Context, in *timelineInput) (*list[store.TimelineEvent], error) {
	if h.o.Store == nil || h.o.Diary == nil {
		return nil, h.missing("timelines")
	}
	_, err := h.o.Store.Session(ctx, in.ID)
	var rows []store.TimelineEvent
	next := ""
	if err == nil {
		rows, next, err = h.o.Diary.Timeline(ctx, in.ID, store.TimelineFilter{Limit: in.Limit, Cursor: in.Cursor})
	}
	if err != nil {
		return nil, h.restFailure(ctx, "session", err)
	}
	return newList(rows, query(), in.Limit, next), nil
}

// compact is POST /sessions/{id}/compact.
func (h *Handler) compact(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	var b compactBody
	f := h.readOptional(w, r, &b)
	threshold := defaultCompact
	if f == nil && b.Threshold != nil {
		if threshold = *b.Threshold; threshold < 1 || threshold > maxCompact {
			f = invalid("threshold", "threshold is %d; it goes from 1 to %d tokens", threshold, maxCompact)
		}
	}
	if f == nil && h.o.Builder == nil {
		f = h.missing("summaries of sessions")
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	id := r.PathValue("id")
	_, err := h.ownSession(ctx, id)
	var built memory.Built
	if err == nil {
		built, err = h.o.Builder.Build(ctx, id, threshold)
	}
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "session", err))
		return
	}
	if built.Moments == nil {
		built.Moments = []store.Moment{}
	}
	writeJSON(w, http.StatusOK, built)
}
