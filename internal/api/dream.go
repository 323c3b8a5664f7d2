package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/jobs"
)

type (
	// dreamBody is the body of POST /dream.
	dreamBody struct {
		Days   *float64 `json:"lookback_days,omitempty" minimum:"1" maximum:"30" doc:"How many days are dreamt of; one without it."`
		DryRun bool     `json:"dry_run,omitempty" doc:"Change nothing, and show what the agent would be shown."`
		Agent  string   `json:"agent,omitempty" doc:"The agent that dreams; the tenant's without it."`
		Wait   bool     `json:"wait,omitempty" doc:"Dream now and answer what became of it."`
	}
	// dreamQueued says that a dream waits for a worker.
	dreamQueued struct {
		JobID  int64  `json:"job_id"`
		Status string `json:"status"`
		// Duplicate: such a dream waited already.
		Duplicate bool `json:"duplicate,omitempty"`
	}
)

func (*dreamBody) example() string { return `{"lookback_days":1}` }

// The days that are dreamt of.
const (
	minLookback = 1
	maxLookback = 30
)

func (h *Handler) dreamRoutes(api huma.API) {
	h.mux.HandleFunc("POST /dream", h.dream)
	op := resource("dream", http.MethodPost, "/dream", "Make moments and dreams of your last days", "memory")
	op.Description = "In the background, unless wait or dry_run asks for the result. The body may be left out."
	handled(api, op, dreamBody{}, map[string]string{
		"200": "What became of it; with dry_run the prompt.", "202": "{job_id, status: queued}.", "404": "No such agent.", "409": "Your last dream is not over.",
	})
	huma.Register(api, operation("job-stats", http.MethodGet, "/jobs/stats", "How the background work of this server fares, by kind", "operation"), h.jobStats)
}

// dream is POST /dream.
func (h *Handler) dream(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	f := h.refuses(ctx)
	var b dreamBody
	if f == nil {
		f = h.readOptional(w, r, &b)
	}
	var req dream.Request
	if f == nil {
		req, f = b.request()
	}
	if f == nil && h.o.Dreams == nil {
		f = h.missing("dreams")
	}
	if f == nil && req.Agent != "" {
		if _, err := h.o.Catalog.Agent(ctx, req.Agent); err != nil {
			f = h.restFailure(ctx, "agent", err)
		}
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	status, answer, err := h.dreamt(ctx, req, b.Wait)
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "dream", err))
		return
	}
	writeJSON(w, status, answer)
}

// request is the dream that the body asks for.
func (b *dreamBody) request() (dream.Request, *failure) {
	req := dream.Request{Agent: b.Agent, DryRun: b.DryRun}
	if b.Days != nil {
		if *b.Days < minLookback || *b.Days > maxLookback {
			return req, invalid("lookback_days", "lookback_days is %v; it goes from %d to %d", *b.Days, minLookback, maxLookback)
		}
		req.Lookback = time.Duration(*b.Days * float64(24*time.Hour))
	}
	return req, longer("agent", b.Agent, maxMomentName)
}

// dreamt dreams now, or has it done.
func (h *Handler) dreamt(ctx context.Context, req dream.Request, wait bool) (status int, answer any, err error) {
	if !req.DryRun && !wait {
		receipt, err := h.o.Dreams.Enqueue(ctx, req)
		return http.StatusAccepted, dreamQueued{receipt.ID, "queued", receipt.Duplicate}, err
	}
	result, err := h.o.Dreams.Dream(ctx, req)
	if err == nil && result.Status == dream.StatusBusy {
		err = &failure{
			status: http.StatusConflict, code: "busy", retryAfter: time.Minute,
			message: "your last dream is not over; ask again when it is",
		}
	}
	return http.StatusOK, result, err
}

// jobStats is about the jobs of all tenants: it is for who runs the server.
func (h *Handler) jobStats(ctx context.Context, _ *struct{}) (*body[[]jobs.KindStats], error) {
	if h.o.Jobs == nil {
		return nil, h.missing("background work")
	}
	stats, err := h.o.Jobs.Stats(ctx)
	if err != nil {
		return nil, h.restFailure(ctx, "job", err)
	}
	return &body[[]jobs.KindStats]{append([]jobs.KindStats{}, stats...)}, nil
}
