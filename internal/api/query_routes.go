package api

import (
	"cmp"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/ask"
)

// queryRoutes adds the routes of queries and questions. Their bodies are read by
// hand, so that a mistake is shown with its place.
func (h *Handler) queryRoutes(api huma.API) {
	h.mux.HandleFunc("POST /query", h.query)
	h.mux.HandleFunc("POST /query/raw", h.queryRaw)
	h.mux.HandleFunc("POST /ask", h.ask)
	for _, d := range []struct {
		id, path, summary, body, answer string
		like                            any
	}{
		{"query", "/query", "Query the knowledge base", "The mode and what it needs.", "The results: a list, or an object in REM's modes.", queryBody{}},
		{"query-raw", "/query/raw", "Run a query of the dialect", "The query.", "{query_type, results, count}.", rawBody{}},
		{"ask", "/ask", "Answer a question in plain words", "The question.", "The query that was made of it, and its results.", askBody{}},
	} {
		op := resource(d.id, http.MethodPost, d.path, d.summary, "knowledge")
		schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(d.like), true, d.id)
		op.RequestBody = &huma.RequestBody{Required: true, Description: d.body, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
		op.Responses = map[string]*huma.Response{
			"200": {Description: d.answer}, "400": {Description: "The query is wrong; column says where."},
			"default": {Description: "A problem document (RFC 9457)."},
		}
		api.OpenAPI().AddOperation(&op)
	}
}

// askBody is the body of POST /ask.
type askBody struct {
	Query    string `json:"query,omitempty" doc:"A question in plain words."`
	Question string `json:"question,omitempty" doc:"The same."`
	Model    string `json:"model,omitempty" doc:"The model that writes the query, as provider:model; P8_QUERY_AGENT_MODEL without it."`
	PlanOnly bool   `json:"plan_only,omitempty" doc:"Answer the query and do not run it."`
}

func (*askBody) example() string { return `{"query":"Who works with Sarah Chen?"}` }

// ask is POST /ask.
func (h *Handler) ask(w http.ResponseWriter, r *http.Request) {
	var b askBody
	if f := h.readJSON(w, r, &b); f != nil {
		h.fail(w, r, f)
		return
	}
	switch {
	case h.o.Knowledge == nil:
		h.fail(w, r, noStore())
		return
	case h.o.Asker == nil:
		h.fail(w, r, noQuestions())
		return
	}
	a, err := h.o.Asker.Ask(r.Context(), cmp.Or(b.Query, b.Question), ask.Request{Model: b.Model, PlanOnly: b.PlanOnly})
	if err != nil {
		h.fail(w, r, h.queryFailure(r.Context(), err))
		return
	}
	writeJSON(w, http.StatusOK, a)
}

// noQuestions is the answer of a server that takes queries alone.
func noQuestions() *failure {
	return &failure{
		status: http.StatusNotImplemented, code: "questions_disabled",
		message: "this server takes queries, not questions; see POST /query",
	}
}
