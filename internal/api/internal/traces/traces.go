// Package traces serves what happened in sessions and runs, as trees: the turns, and below each
// its requests to models, calls of tools, asked agents and waits for the user. Who may read the
// session or the run may read its trace; the store decides it.
package traces

import (
	"context"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/trace"
)

// Reader reads traces of the caller in ctx. Implemented by trace.Reader.
type Reader interface {
	Session(ctx context.Context, id string, o trace.Options) (*trace.Trace, error)
	Run(ctx context.Context, id string, o trace.Options) (*trace.Trace, error)
}

type handlers struct {
	api    *rest.API
	reader Reader
}

type (
	sessionInput struct {
		ID    string `path:"id" maxLength:"128" doc:"The session."`
		Turns int    `query:"turns" minimum:"1" maximum:"200" default:"20" doc:"The most turns, the newest ones."`
		All   bool   `query:"all" doc:"Each of many calls, not the repeated ones as one."`
	}
	runInput struct {
		ID  string `path:"id" maxLength:"128" doc:"The run's id, from the header X-Run-Id."`
		All bool   `query:"all" doc:"Each of many calls, not the repeated ones as one."`
	}
)

// Routes adds /sessions/{id}/trace and /runs/{id}/trace. A nil Reader makes them answer that the
// server has none.
func Routes(api *rest.API, r Reader) {
	h := &handlers{api, r}
	const summary = ", as a tree: requests to models, calls, asked agents, waits, with times, tokens and money"
	rest.Register(api, rest.Resource("session-trace", http.MethodGet, "/sessions/{id}/trace", "What happened in a session"+summary, "sessions"), h.session)
	rest.Register(api, rest.Resource("run-trace", http.MethodGet, "/runs/{id}/trace", "What happened in a run"+summary, "runs"), h.run)
}

func (h *handlers) session(ctx context.Context, in *sessionInput) (*rest.Body[*trace.Trace], error) {
	if h.reader == nil {
		return nil, h.api.Missing("traces")
	}
	t, err := h.reader.Session(ctx, in.ID, trace.Options{Turns: in.Turns, All: in.All})
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	return &rest.Body[*trace.Trace]{Body: t}, nil
}

func (h *handlers) run(ctx context.Context, in *runInput) (*rest.Body[*trace.Trace], error) {
	if h.reader == nil {
		return nil, h.api.Missing("traces")
	}
	t, err := h.reader.Run(ctx, in.ID, trace.Options{All: in.All})
	if err != nil {
		return nil, h.api.About(ctx, "run", err)
	}
	return &rest.Body[*trace.Trace]{Body: t}, nil
}
