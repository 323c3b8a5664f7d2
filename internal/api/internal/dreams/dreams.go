// Package dreams serves POST /dream, which makes moments and dreams of the caller's last
// days, and GET /jobs/stats, which counts the background work.
package dreams

import (
	"context"
	"net/http"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/jobs"
)

// Dreams makes moments and dreams of the caller's days. Implemented by *dream.Service.
type Dreams interface {
	Dream(ctx context.Context, req dream.Request) (dream.Result, error)
	Enqueue(ctx context.Context, req dream.Request) (jobs.Receipt, error)
}

// Catalog finds agents. Implemented by *catalog.Catalog.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
}

// Jobs counts the background work of a tenant, or of all. Implemented by *jobs.Queue.
type Jobs interface {
	Stats(ctx context.Context, tenant string) ([]jobs.KindStats, error)
}

// Options are what the routes work with. Routes whose part is nil answer that the
// server has none.
type Options struct {
	Catalog Catalog
	Dreams  Dreams
	Jobs    Jobs
}

type handlers struct {
	api *rest.API
	o   Options
}

type (
	// dreamBody is the body of POST /dream.
	dreamBody struct {
		Days   *float64 `json:"lookback_days,omitempty" minimum:"1" maximum:"30" doc:"The length of the window in days; one by default."`
		DryRun bool     `json:"dry_run,omitempty" doc:"Change nothing, and return the agent's prompt."`
		Agent  string   `json:"agent,omitempty" doc:"The agent that dreams; the tenant's by default."`
		Wait   bool     `json:"wait,omitempty" doc:"Dream now and answer with the result."`
	}
	// dreamQueued is a dream that waits for a worker.
	dreamQueued struct {
		JobID  int64  `json:"job_id"`
		Status string `json:"status"`
		// Duplicate is true if the same dream was queued before.
		Duplicate bool `json:"duplicate,omitempty"`
	}
)

func (*dreamBody) Example() string { return `{"lookback_days":1}` }

// The bounds of lookback_days.
const (
	minLookback = 1
	maxLookback = 30
)

// maxAgentName bounds the agent's name, in characters.
const maxAgentName = 255

// Routes adds /dream and /jobs/stats.
func Routes(api *rest.API, o Options) {
	h := &handlers{api: api, o: o}
	op := rest.Resource("dream", http.MethodPost, "/dream", "Make moments and dreams of your last days", "memory")
	op.Description = "In the background, unless wait or dry_run asks for the result. The body is optional."
	api.Sends(&op, "dream", dreamBody{})
	rest.Answers(&op, map[string]string{
		"200": "The result; with dry_run the prompt.", "202": "{job_id, status: queued}.", "404": "No such agent.", "409": "Your last dream is still under way.",
	})
	api.Route(op, h.dream)
	rest.Register(api, rest.Operation("job-stats", http.MethodGet, "/jobs/stats", "Statistics of the background jobs, by kind", "operation"), h.jobStats)
}

// dream is POST /dream.
func (h *handlers) dream(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	p := h.api.Refuse(ctx)
	var b dreamBody
	if p == nil {
		p = h.api.Optional(w, r, &b)
	}
	var req dream.Request
	if p == nil {
		req, p = b.request()
	}
	if p == nil && h.o.Dreams == nil {
		p = h.api.Missing("dreams")
	}
	if p != nil {
		return 0, nil, p
	}
	if req.Agent != "" {
		if _, err := h.o.Catalog.Agent(ctx, req.Agent); err != nil {
			return 0, nil, h.api.About(ctx, "agent", err)
		}
	}
	status, answer, err := h.start(ctx, req, b.Wait)
	if err != nil {
		return 0, nil, h.api.About(ctx, "dream", err)
	}
	return status, answer, nil
}

// request checks the body and returns the dream that it asks for.
func (b *dreamBody) request() (dream.Request, *problem.Problem) {
	req := dream.Request{Agent: b.Agent, DryRun: b.DryRun}
	if b.Days != nil {
		if *b.Days < minLookback || *b.Days > maxLookback {
			return req, problem.Invalid("lookback_days", "lookback_days is %v; it goes from %d to %d", *b.Days, minLookback, maxLookback)
		}
		req.Lookback = time.Duration(*b.Days * float64(24*time.Hour))
	}
	return req, field.Longer("agent", b.Agent, maxAgentName)
}

// start dreams now for wait or a dry run, else queues the dream.
func (h *handlers) start(ctx context.Context, req dream.Request, wait bool) (status int, answer any, err error) {
	id, err := identity.From(ctx)
	if err == nil && id.Visitor() {
		err = &problem.Problem{Status: http.StatusForbidden, Code: "forbidden", Message: "nobody dreams for a caller without a token: send one"}
	}
	if err != nil {
		return 0, nil, err
	}
	if !req.DryRun && !wait {
		receipt, err := h.o.Dreams.Enqueue(ctx, req)
		return http.StatusAccepted, dreamQueued{receipt.ID, "queued", receipt.Duplicate}, err
	}
	result, err := h.o.Dreams.Dream(ctx, req)
	if err == nil && result.Status == dream.StatusBusy {
		err = &problem.Problem{
			Status: http.StatusConflict, Code: "busy", RetryAfter: time.Minute,
			Message: "your last dream is not over; ask again when it is",
		}
	}
	return http.StatusOK, result, err
}

// jobStats counts the jobs of the caller's tenant, for the operator those of all tenants.
func (h *handlers) jobStats(ctx context.Context, _ *struct{}) (*rest.Body[[]jobs.KindStats], error) {
	if h.o.Jobs == nil {
		return nil, h.api.Missing("background work")
	}
	id, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	tenant := id.TenantID
	if id.Operates() {
		tenant = ""
	}
	stats, err := h.o.Jobs.Stats(ctx, tenant)
	if err != nil {
		return nil, h.api.About(ctx, "job", err)
	}
	return &rest.Body[[]jobs.KindStats]{Body: append([]jobs.KindStats{}, stats...)}, nil
}
