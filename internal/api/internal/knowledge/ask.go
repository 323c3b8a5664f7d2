package knowledge

import (
	"cmp"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/ask"
)

// askBody is the body of POST /ask.
type askBody struct {
	Query    string `json:"query,omitempty" doc:"A question in plain words."`
	Question string `json:"question,omitempty" doc:"The same."`
	Model    string `json:"model,omitempty" doc:"The model that writes the query, as provider:model; the default is P8_QUERY_AGENT_MODEL."`
	PlanOnly bool   `json:"plan_only,omitempty" doc:"Return the query without running it."`
	Ignored
}

func (*askBody) Example() string { return `{"query":"Who works with Sarah Chen?"}` }

// ask is POST /ask.
func (h *handlers) ask(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b askBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	switch {
	case h.o.Engine == nil:
		return 0, nil, problem.NoStore()
	case h.o.Asker == nil:
		return 0, nil, noQuestions()
	}
	a, err := h.o.Asker.Ask(r.Context(), cmp.Or(b.Query, b.Question), ask.Request{Model: b.Model, PlanOnly: b.PlanOnly})
	if err != nil {
		return 0, nil, QueryProblem(r.Context(), h.api, err)
	}
	return http.StatusOK, a, nil
}
