package sessions

import (
	"context"
	"net/http"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

type (
	ownSessionInput struct {
		ID string `path:"id" maxLength:"128" doc:"The session's id."`
	}
	contextInput struct {
		ID    string `path:"id" maxLength:"128" doc:"The session's id."`
		Agent string `query:"agent" maxLength:"255" doc:"The agent that would answer; the session's own by default."`
	}
	timelineInput struct {
		ID     string `path:"id" maxLength:"128" doc:"The session's id."`
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many events to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
	}
	// compactBody is the body of POST /sessions/{id}/compact.
	compactBody struct {
		Threshold *int `json:"threshold,omitempty" minimum:"1" maximum:"1000000" doc:"The least number of tokens that a moment summarises; 200 by default."`
	}
)

func (*compactBody) Example() string { return `{"threshold":200}` }

// The threshold of a summary on demand, in tokens.
const (
	defaultCompact = 200
	maxCompact     = 1_000_000
)

func (h *handlers) memoryRoutes() {
	del := rest.Resource("delete-session", http.MethodDelete, "/sessions/{id}", "Delete a session of yours", "sessions")
	del.Description = "A run under way is stopped first. The session's rows are hidden for good, the logs of its runs are deleted, and its id cannot be used again."
	rest.Register(h.api, del, h.delete)
	h.patchRoute()
	seen := rest.Resource("session-context", http.MethodGet, "/sessions/{id}/context", "The context that the next turn of a session sends to the model", "sessions")
	seen.Description = "Every part in order, with its tokens, before a new message."
	rest.Register(h.api, seen, h.context)
	line := rest.Resource("session-timeline", http.MethodGet, "/sessions/{id}/timeline", "The messages and moments of a session", "sessions")
	line.Description = "The newest page first; each page is in the order of time."
	rest.Register(h.api, line, h.timeline)
	rest.Register(h.api, rest.Resource("moment-timeline", http.MethodGet, "/moments/session/{id}", "The messages and moments of a session", "moments"), h.timeline)

	op := rest.Resource("compact-session", http.MethodPost, "/sessions/{id}/compact", "Summarise a session since its last moment", "sessions")
	op.Parameters = append(op.Parameters, rest.Text("id", "path", "The session's id."))
	h.api.Sends(&op, "compact-session", compactBody{})
	rest.Answers(&op, map[string]string{"200": "{session_id, moments, unsummarised_tokens}.", "404": "No such session."})
	h.api.Route(op, h.compact)
}

// own returns a session of the caller.
func (h *handlers) own(ctx context.Context, id string) (store.Session, error) {
	if h.o.Store == nil {
		return store.Session{}, problem.NoStore()
	}
	return h.o.Store.Session(ctx, id)
}

func (h *handlers) context(ctx context.Context, in *contextInput) (*rest.Body[chat.Preview], error) {
	if h.o.Preview == nil {
		return nil, h.api.Missing("preview of turns")
	}
	p, err := h.o.Preview.Preview(ctx, in.ID, in.Agent)
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	if p.Parts == nil {
		p.Parts = []chat.PreviewPart{}
	}
	return &rest.Body[chat.Preview]{Body: p}, nil
}

func (h *handlers) timeline(ctx context.Context, in *timelineInput) (*rest.List[store.TimelineEvent], error) {
	if h.o.Store == nil || h.o.Timeline == nil {
		return nil, h.api.Missing("timelines")
	}
	_, err := h.o.Store.Session(ctx, in.ID)
	var rows []store.TimelineEvent
	next := ""
	if err == nil {
		rows, next, err = h.o.Timeline.Timeline(ctx, in.ID, store.TimelineFilter{Limit: in.Limit, Cursor: in.Cursor})
	}
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	return rest.NewList(rows, rest.Query(), in.Limit, next), nil
}

// compact is POST /sessions/{id}/compact.
func (h *handlers) compact(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	var b compactBody
	p := h.api.Optional(w, r, &b)
	threshold := defaultCompact
	if p == nil && b.Threshold != nil {
		if threshold = *b.Threshold; threshold < 1 || threshold > maxCompact {
			p = problem.Invalid("threshold", "threshold is %d; it goes from 1 to %d tokens", threshold, maxCompact)
		}
	}
	if p == nil && h.o.Builder == nil {
		p = h.api.Missing("summaries of sessions")
	}
	if p != nil {
		return 0, nil, p
	}
	id := r.PathValue("id")
	_, err := store.Writer(ctx)
	if err == nil {
		_, err = h.own(ctx, id)
	}
	var built memory.Built
	if err == nil {
		built, err = h.o.Builder.Build(ctx, id, threshold)
	}
	if err != nil {
		return 0, nil, h.api.About(ctx, "session", err)
	}
	if built.Moments == nil {
		built.Moments = []store.Moment{}
	}
	return http.StatusOK, built, nil
}
