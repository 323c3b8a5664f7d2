// Package rest is what every family of routes is registered on: the mux, the OpenAPI
// description, and one way to answer.
//
// Routes whose parameters are all in the path and the query have a type for them
// ([Register]). Routes that read a body, or stream, are a [Handler] ([API.Handle],
// [API.Route]). huma describes both, and judges parameters by their schemas.
package rest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/stream"
)

// Options are what all routes share.
type Options struct {
	Mux     *Mux
	Version string
	// Stored is false for a server without a database.
	Stored bool
	// Limits bound the bodies of requests.
	Limits body.Limits
	// Stream bounds the silence of a stream and the time that a client may take to
	// read.
	Stream stream.SSEOptions
	// Draining is closed when the server begins to stop.
	Draining <-chan struct{}
	Now      func() time.Time
	Logger   *slog.Logger
}

// API registers routes. It words errors as its Describer and reads bodies as its
// Reader do.
type API struct {
	problem.Describer
	body.Reader
	// Logger, Now, Stream and Draining are those of the options.
	Logger   *slog.Logger
	Now      func() time.Time
	Stream   stream.SSEOptions
	Draining <-chan struct{}

	stored  bool
	mux     *Mux
	openAPI *huma.OpenAPI
}

// New returns an API without routes.
func New(o Options) *API {
	config := huma.DefaultConfig("p8", o.Version)
	config.Info.Description = "Agents from documents. Every path also works under /v1 and /api/v1."
	return &API{
		Describer: problem.Describer{Logger: o.Logger}, Reader: body.Reader{Limits: o.Limits, Logger: o.Logger},
		Logger: o.Logger, Now: o.Now, Stream: o.Stream, Draining: o.Draining,
		stored: o.Stored, mux: o.Mux, openAPI: config.OpenAPI,
	}
}

// Handler serves a route. Its answer is sent as JSON with the status, its error as a
// problem. A handler that has answered itself, as a stream does, returns status 0.
type Handler func(w http.ResponseWriter, r *http.Request) (status int, answer any, err error)

// Handle serves a pattern of net/http's mux.
func (a *API) Handle(pattern string, h Handler) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		switch status, answer, err := h(w, r); {
		case err != nil:
			problem.Write(w, r, a.Describe(r.Context(), err))
		case status == http.StatusNoContent:
			w.WriteHeader(status)
		case status != 0:
			web.WriteJSON(w, status, answer)
		}
	})
}

// Route serves an operation and adds it to the description.
func (a *API) Route(op huma.Operation, h Handler) {
	a.Handle(op.Method+" "+op.Path, h)
	a.Document(op)
}

// Document adds an operation to the description alone.
func (a *API) Document(op huma.Operation) { a.openAPI.AddOperation(&op) }

// ServeDescription serves GET /openapi.json with every operation that was added.
func (a *API) ServeDescription() {
	// Marshalled on the first request: it takes longer than everything else in New.
	spec := sync.OnceValues(func() ([]byte, error) { return json.Marshal(a.openAPI) })
	a.Handle("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) (int, any, error) {
		spec, err := spec()
		if err != nil {
			return 0, nil, err
		}
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(spec)
		return 0, nil, nil
	})
}

// Missing is the problem of routes that need a part that this server lacks.
func (a *API) Missing(part string) *problem.Problem {
	if !a.stored {
		return problem.NoStore()
	}
	return problem.Missing(part)
}

// Refuse returns the problem of new work once the server is stopping, else nil.
func (a *API) Refuse(ctx context.Context) *problem.Problem {
	select {
	case <-a.Draining:
		return a.Describe(ctx, chat.ErrClosed)
	default:
		return nil
	}
}
