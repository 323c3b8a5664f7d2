// Package runs serves runs: their list, their events, their end, and the requests that
// they make of their user. Its Streamer and Stopper do the same for the routes of a
// chat and of a session.
package runs

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

// Chat knows the runs of the caller in ctx and their requests. Implemented by
// *chat.Service.
type Chat interface {
	// Active returns nil for a session without a run under way.
	Active(ctx context.Context, sessionID string) (*chat.Turn, error)
	Open(ctx context.Context, runID string) (*chat.Turn, store.Run, error)
	Stop(ctx context.Context, runID string) (store.Run, error)
	Resume(ctx context.Context, runID string) (*chat.Turn, error)
	Delete(ctx context.Context, runID string) error
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	Request(ctx context.Context, id string) (store.RunRequest, error)
	Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *chat.Turn, error)
}

// Store lists the caller's runs. Implemented by *store.Store.
type Store interface {
	Runs(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error)
}

// Options are what the routes work with.
type Options struct {
	Chat Chat
	// Store may be nil: then there is no list of runs.
	Store Store
}

type handlers struct {
	api      *rest.API
	o        Options
	streamer *Streamer
	stopper  *Stopper
}

type (
	listRunsInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		SessionID string `query:"session_id" maxLength:"128" doc:"Only runs of this session."`
		Status    string `query:"status" enum:"running,waiting,interrupted,completed,failed,cancelled" doc:"Only runs in this state."`
	}
	runInput struct {
		ID string `path:"id" maxLength:"128" doc:"The run's id, from the header X-Run-Id."`
	}
	// runOutput is a run that was asked to stop; it may still be running.
	runOutput struct {
		Status int
		Body   *store.Run
	}
)

// Routes adds /runs and /approvals.
func Routes(api *rest.API, o Options) {
	h := &handlers{api: api, o: o, streamer: &Streamer{API: api, Chat: o.Chat}, stopper: &Stopper{Chat: o.Chat, Store: o.Store}}
	rest.Register(api, rest.Resource("list-runs", http.MethodGet, "/runs", "Your runs, the newest first", "runs"), h.list)
	rest.Register(api, rest.Resource("get-run", http.MethodGet, "/runs/{id}", "One run with its status", "runs"), h.show)
	del := rest.Resource("delete-run", http.MethodDelete, "/runs/{id}", "Stop a run, or delete one that has ended", "runs")
	del.Description = "A run under way is stopped: 202 with the run. The log of an ended run is deleted: 204. The session keeps its messages."
	del.Responses = map[string]*huma.Response{"202": {Description: "The run is stopped."}, "204": {Description: "The log is deleted."}}
	rest.Register(api, del, h.delete)

	op := rest.Resource("run-events", http.MethodGet, "/runs/{id}/events", "The events of a run, as a stream or as a list", "runs")
	op.Description = "Server-sent events in the requested protocol, p8's own by default: from the beginning or after an event, until the run " +
		"ends. With Accept: application/json a page of the events so far."
	op.Parameters = append(op.Parameters,
		rest.Text("id", "path", "The run's id."), rest.Text("protocol", "query", "openai, responses, ag-ui, ai-sdk or events."),
		rest.Text("after", "query", "The number of the last event that the client has."), rest.Text("limit", "query", "The size of a page, 1 to 1000."),
		rest.Text("Last-Event-ID", "header", "The same as after."))
	op.Responses = map[string]*huma.Response{"200": {Description: "The events.", Content: map[string]*huma.MediaType{"text/event-stream": {}, "application/json": {}}}, "404": {Description: "No such run."}}
	api.Route(op, h.events)

	again := rest.Resource("resume-run", http.MethodPost, "/runs/{id}/resume", "Resume an interrupted run", "runs")
	again.Description = "The run resumes where it stopped; a finished tool call is never repeated. With Accept: text/event-stream the answer streams the further events."
	again.Parameters = append(again.Parameters, rest.Text("id", "path", "The run's id."))
	again.Responses = map[string]*huma.Response{"202": {Description: "The run resumes."}, "404": {Description: "No such run."}, "409": {Description: "The run is under way, waits for answers, or has ended."}}
	api.Route(again, h.resume)
	h.approvalRoutes()
}

func (h *handlers) list(ctx context.Context, in *listRunsInput) (*rest.List[store.Run], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	f := store.RunFilter{SessionID: in.SessionID, Limit: in.Limit, Cursor: in.Cursor}
	if in.Status != "" {
		f.Statuses = []string{in.Status}
	}
	rows, next, err := h.o.Store.Runs(ctx, f)
	if err != nil {
		return nil, h.api.About(ctx, "run", err)
	}
	return rest.NewList(rows, rest.Query("session_id", in.SessionID, "status", in.Status), in.Limit, next), nil
}

func (h *handlers) show(ctx context.Context, in *runInput) (*rest.Body[store.Run], error) {
	_, run, err := h.o.Chat.Open(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "run", err)
	}
	return &rest.Body[store.Run]{Body: run}, nil
}

// delete stops a run, or deletes one that has ended.
func (h *handlers) delete(ctx context.Context, in *runInput) (*runOutput, error) {
	_, run, err := h.o.Chat.Open(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "run", err)
	}
	if ended(run.Status) {
		if err := h.o.Chat.Delete(ctx, in.ID); err != nil {
			return nil, h.api.About(ctx, "run", err)
		}
		return &runOutput{Status: http.StatusNoContent}, nil
	}
	if run, err = h.stopper.Stop(ctx, in.ID); err != nil {
		return nil, h.api.About(ctx, "run", err)
	}
	return &runOutput{Status: http.StatusAccepted, Body: &run}, nil
}

// ended reports whether no event can follow.
func ended(status string) bool {
	return status == store.RunCompleted || status == store.RunFailed || status == store.RunCancelled
}

// resume is POST /runs/{id}/resume.
func (h *handlers) resume(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	v, p := NewView(r)
	if p == nil {
		p = h.api.Refuse(ctx)
	}
	if p != nil {
		return 0, nil, p
	}
	turn, err := h.o.Chat.Resume(ctx, r.PathValue("id"))
	if err != nil {
		return 0, nil, h.api.About(ctx, "run", err)
	}
	if web.Accepts(r, "text/event-stream") {
		h.streamer.Rejoin(w, r, turn, v)
		return 0, nil, nil
	}
	_, run, err := h.o.Chat.Open(ctx, turn.RunID)
	if err != nil {
		return 0, nil, h.api.About(ctx, "run", err)
	}
	return http.StatusAccepted, run, nil
}
