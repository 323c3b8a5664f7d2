package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

type (
	listRunsInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		SessionID string `query:"session_id" maxLength:"128" doc:"Only runs of this session."`
		Status    string `query:"status" enum:"running,waiting,interrupted,completed,failed,cancelled" doc:"Only runs in this state."`
	}
	runInput struct {
		ID string `path:"id" maxLength:"128" doc:"The run's id, as the header X-Run-Id carried it."`
	}
	// runOutput is a run; a stop that was asked for may not have been done yet.
	runOutput struct {
		Status int
		Body   *store.Run
	}
)

func (h *Handler) runRoutes(api huma.API) {
	huma.Register(api, resource("list-runs", http.MethodGet, "/runs", "Your runs, the newest first", "runs"), h.listRuns)
	huma.Register(api, resource("get-run", http.MethodGet, "/runs/{id}", "One run and what became of it", "runs"), h.showRun)
	del := resource("delete-run", http.MethodDelete, "/runs/{id}", "Stop a run, or forget one that has ended", "runs")
	del.Description = "202 with the run when it had not ended and is stopped; 204 when it had, and its log is forgotten. The session keeps its messages."
	del.Responses = map[string]*huma.Response{"202": {Description: "It is stopped."}, "204": {Description: "It is forgotten."}}
	huma.Register(api, del, h.deleteRun)

	h.mux.HandleFunc("GET /runs/{id}/events", h.runEvents)
	op := resource("run-events", http.MethodGet, "/runs/{id}/events", "What a run said, as a stream or as a list", "runs")
	op.Description = "Server-sent events in the protocol that is asked for, p8's own by default: from the beginning or after an event, and on " +
		"as long as the run goes on. With Accept: application/json a page of what there is."
	op.Parameters = append(op.Parameters,
		text("id", "path", "The run's id."), text("protocol", "query", "openai, ag-ui, ai-sdk or events."),
		text("after", "query", "The number of the last event that the client has."), text("limit", "query", "The size of a page, 1 to 1000."),
		text("Last-Event-ID", "header", "As after."))
	op.Responses = map[string]*huma.Response{"200": {Description: "The events.", Content: map[string]*huma.MediaType{"text/event-stream": {}, "application/json": {}}}, "404": {Description: "No such run."}}
	api.OpenAPI().AddOperation(&op)

	h.mux.HandleFunc("POST /runs/{id}/resume", h.resumeRun)
	again := resource("resume-run", http.MethodPost, "/runs/{id}/resume", "Take up a run that was interrupted", "runs")
	again.Description = "The run goes on where it was; no tool is called again whose result is known. With Accept: text/event-stream the answer is what follows."
	again.Parameters = append(again.Parameters, text("id", "path", "The run's id."))
	again.Responses = map[string]*huma.Response{"202": {Description: "It goes on."}, "404": {Description: "No such run."}, "409": {Description: "It is at it, waits for answers, or has ended."}}
	api.OpenAPI().AddOperation(&again)
}

func (h *Handler) listRuns(ctx context.Context, in *listRunsInput) (*list[store.Run], error) {
	if h.o.Store == nil {
		return nil, noStore()
	}
	f := store.RunFilter{SessionID: in.SessionID, Limit: in.Limit, Cursor: in.Cursor}
	if in.Status != "" {
		f.Statuses = []string{in.Status}
	}
	rows, next, err := h.o.Store.Runs(ctx, f)
	if err != nil {
		return nil, h.restFailure(ctx, "run", err)
	}
	return newList(rows, query("session_id", in.SessionID, "status", in.Status), in.Limit, next), nil
}

func (h *Handler) showRun(ctx context.Context, in *runInput) (*body[store.Run], error) {
	_, run, err := h.o.Chat.Open(ctx, in.ID)
	if err != nil {
		return nil, h.restFailure(ctx, "run", err)
	}
	return &body[store.Run]{run}, nil
}

// ended reports whether nothing can follow.
func ended(status string) bool {
	return status == store.RunCompleted || status == store.RunFailed || status == store.RunCancelled
}

func (h *Handler) deleteRun(ctx context.Context, in *runInput) (*runOutput, error) {
	_, run, err := h.o.Chat.Open(ctx, in.ID)
	if err != nil {
		return nil, h.restFailure(ctx, "run", err)
	}
	if ended(run.Status) {
		if err := h.o.Chat.Delete(ctx, in.ID); err != nil {
			return nil, h.restFailure(ctx, "run", err)
		}
		return &runOutput{Status: http.StatusNoContent}, nil
	}
	if run, err = h.stop(ctx, in.ID); err != nil {
		return nil, h.restFailure(ctx, "run", err)
	}
	return &runOutput{Status: http.StatusAccepted, Body: &run}, nil
}

// resumeRun is POST /runs/{id}/resume.
func (h *Handler) resumeRun(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	v, f := newView(r)
	if f == nil {
		f = h.refuses(ctx)
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	turn, err := h.o.Chat.Resume(ctx, r.PathValue("id"))
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "run", err))
		return
	}
	if accepts(r, "text/event-stream") {
		h.again(w, r, turn, v)
		return
	}
	_, run, err := h.o.Chat.Open(ctx, turn.RunID)
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "run", err))
		return
	}
	writeJSON(w, http.StatusAccepted, run)
}

// accepts reports whether the client asks for the media type by its name.
func accepts(r *http.Request, mediaType string) bool {
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			if name, _, _ := strings.Cut(part, ";"); strings.EqualFold(strings.TrimSpace(name), mediaType) {
				return true
			}
		}
	}
	return false
}

// The sizes of a page of events.
const (
	defaultEvents = 200
	maxEvents     = 1000
)

// pageTime bounds the reading of a page: a page never waits for the run.
const pageTime = 2 * time.Second

// runEvents is GET /runs/{id}/events.
func (h *Handler) runEvents(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	v, f := newView(r)
	limit := defaultEvents
	if value := r.URL.Query().Get("limit"); f == nil && value != "" {
		n, err := strconv.Atoi(value)
		if limit = n; err != nil || n < 1 || n > maxEvents {
			f = invalid("limit", "limit is %q; it goes from 1 to %d", cut(value), maxEvents)
		}
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	turn, run, err := h.o.Chat.Open(ctx, r.PathValue("id"))
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "run", err))
		return
	}
	if !accepts(r, "application/json") || accepts(r, "text/event-stream") {
		if v.protocol == "" {
			v.protocol = stream.ProtocolEvents
		}
		v.newest = run.LastSeq
		h.show(w, r, turn, v)
		return
	}
	page := make([]event.Event, 0, min(limit, 64))
	reading, stop := context.WithTimeout(ctx, pageTime)
	defer stop()
	last := v.seen
	if last < run.LastSeq {
		for ev, err := range turn.EventsAfter(reading, v.seen) {
			if err != nil {
				if reading.Err() != nil && ctx.Err() == nil {
					break // the run is at it, and says nothing more for now
				}
				h.fail(w, r, h.restFailure(ctx, "run", err))
				return
			}
			if page = append(page, ev); ev.Seq > 0 {
				last = ev.Seq
			}
			if len(page) == limit || last >= run.LastSeq {
				break
			}
		}
	}
	if last < run.LastSeq && len(page) == limit {
		w.Header().Set("Link", "<?"+query("after", strconv.FormatInt(last, 10), "limit", strconv.Itoa(limit)).Encode()+`>; rel="next"`)
	}
	writeJSON(w, http.StatusOK, page)
}
