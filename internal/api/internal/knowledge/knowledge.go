// Package knowledge serves the knowledge base: queries, questions in plain words, and
// files to take in.
package knowledge

import (
	"context"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Engine answers queries for the caller in ctx. Implemented by *rem.Engine.
type Engine interface {
	// Run fails with a *rem.SyntaxError for a query that is wrong.
	Run(ctx context.Context, text string) (rem.Result, error)
}

// Asker answers questions for the caller in ctx. Implemented by *ask.Asker.
type Asker interface {
	Ask(ctx context.Context, question string, req ask.Request) (ask.Answer, error)
	Run(ctx context.Context, p ask.Plan) ([]ask.StageResult, error)
}

// Ingest takes in files for the caller in ctx. Implemented by *ingest.Ingester.
type Ingest interface {
	// Upload fails with ingest.ErrTooLarge, ErrUnsupported or ErrUnreadable for a file
	// that cannot be taken in.
	Upload(ctx context.Context, u ingest.Upload) (ingest.Result, error)
}

// Files reads the rows of files. Implemented by store.Repository[store.File].
type Files interface {
	Get(ctx context.Context, id string) (store.File, error)
}

// Pieces finds the resources that files were cut into. Implemented by
// store.Repository[store.Resource].
type Pieces interface {
	Find(ctx context.Context, f store.Filter) (rows []store.Resource, next string, err error)
}

// Recorder makes the moment of a file that was taken in, as memory.RecordUpload does.
type Recorder func(ctx context.Context, u memory.Upload) (sessionID string, m store.Moment, err error)

// Options are what the routes work with. Routes whose part is nil answer that the
// server has none.
type Options struct {
	Engine Engine
	Asker  Asker
	// Ingest takes in files, Files reads their rows.
	Ingest Ingest
	Files  Files
	// Recorder and Pieces make the moment of a file; without a Recorder files have none.
	Recorder Recorder
	Pieces   Pieces
}

type handlers struct {
	api *rest.API
	o   Options
}

// Routes adds /query, /ask and /content.
func Routes(api *rest.API, o Options) {
	h := &handlers{api: api, o: o}
	for _, d := range []struct {
		id, path, summary, body, answer string
		like                            any
		handler                         rest.Handler
	}{
		{"query", "/query", "Query the knowledge base", "The mode and its fields.", "The results: a list, or an object in REM's modes.", queryBody{}, h.query},
		{"query-raw", "/query/raw", "Run a query of the dialect", "The query.", "{query_type, results, count}.", rawBody{}, h.queryRaw},
		{"ask", "/ask", "Answer a question in plain words", "The question.", "The generated query and its results.", askBody{}, h.ask},
	} {
		op := rest.Resource(d.id, http.MethodPost, d.path, d.summary, "knowledge")
		api.Sends(&op, d.id, d.like)
		op.RequestBody.Description = d.body
		rest.Answers(&op, map[string]string{"200": d.answer, "400": "The query is wrong; column names the place."})
		api.Route(op, d.handler)
	}
	h.contentRoute()
}
