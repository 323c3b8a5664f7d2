package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
)

// queryBody is the body of POST /query: the fields of p8's modes, then those of REM's.
type queryBody struct {
	Mode string `json:"mode,omitempty" doc:"LOOKUP, FUZZY, SEARCH, TRAVERSE and SQL answer with a list of results; rem-dialect (the default), natural-language and staged-plan with an object."`
	Key  string `json:"key,omitempty" doc:"The key of LOOKUP (several with commas) and TRAVERSE."`
	// In mode SQL the query may be any query of the dialect.
	Query         string   `json:"query,omitempty" doc:"The text of FUZZY and SEARCH, a SELECT or any query of the dialect for SQL and rem-dialect, a question for natural-language."`
	Table         string   `json:"table,omitempty" doc:"The table of SEARCH, or several with commas; resources by default."`
	Field         string   `json:"field,omitempty" doc:"The embedded field of SEARCH; the table's own by default."`
	Category      string   `json:"category,omitempty" doc:"Only rows of this category, for SEARCH."`
	Limit         *int     `json:"limit,omitempty" doc:"The maximum number of results; 10 by default."`
	Threshold     *float64 `json:"threshold,omitempty" doc:"The least similarity of FUZZY; 0.3 by default."`
	MinSimilarity *float64 `json:"min_similarity,omitempty" doc:"The least similarity of SEARCH; the embedding model's own by default."`
	MaxDepth      *int     `json:"max_depth,omitempty" doc:"The depth of TRAVERSE; 1 by default, 0 returns only the edges."`
	RelType       string   `json:"rel_type,omitempty" doc:"The relations that TRAVERSE follows, separated by commas; all by default."`

	Model    string            `json:"model,omitempty" doc:"The model that writes the query of a question, as provider:model."`
	PlanOnly bool              `json:"plan_only,omitempty" doc:"Return the query of a question, or the order of a plan, without running it."`
	Plan     []ask.Stage       `json:"plan,omitempty" doc:"The stages of staged-plan, at most 10."`
	Previous []ask.StageResult `json:"previous_results,omitempty" doc:"Results of stages that ran before, from stage_results."`
	Resume   int               `json:"resume_from_stage,omitempty" doc:"Skip the stages with smaller numbers."`

	Ignored
}

// Ignored are fields that clients of REM send. The caller is never taken from a body.
type Ignored struct {
	TenantID json.RawMessage `json:"tenant_id,omitempty" doc:"Ignored: the headers name the caller."`
	UserID   json.RawMessage `json:"user_id,omitempty" doc:"Ignored, like tenant_id."`
}

func (*queryBody) Example() string { return `{"mode":"LOOKUP","key":"sarah-chen"}` }

// REM's modes. p8's modes are the verbs of the dialect.
const (
	modeDialect = "rem-dialect"
	modeNatural = "natural-language"
	modeStaged  = "staged-plan"
)

// queryAnswer is the answer of REM's modes; fields that a mode does not have are null.
type queryAnswer struct {
	QueryType  string            `json:"query_type"`
	Query      string            `json:"query"`
	Results    any               `json:"results"`
	Count      int               `json:"count"`
	Mode       string            `json:"mode"`
	Generated  *string           `json:"generated_query"`
	Parameters *ask.Parameters   `json:"parameters,omitempty"`
	Confidence *float64          `json:"confidence"`
	Reasoning  *string           `json:"reasoning"`
	Warning    *string           `json:"warning"`
	PlanOnly   bool              `json:"plan_only"`
	Executed   *bool             `json:"executed,omitempty"`
	Stages     []ask.StageResult `json:"stage_results"`
	more
}

// more are the fields that only some queries have.
type more struct {
	Missing     []string          `json:"missing,omitempty"`
	Suggestions []string          `json:"suggestions,omitempty"`
	EdgeSummary []rem.EdgeSummary `json:"edge_summary,omitempty"`
	Explained   *rem.Plan         `json:"plan,omitempty"`
	Truncated   bool              `json:"truncated,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
}

// moreOf returns these fields of a result; a nil result has none.
func moreOf(r *rem.Result) more {
	if r == nil {
		return more{}
	}
	return more{r.Missing, r.Suggestions, r.EdgeSummary, r.Plan, r.Truncated, r.Notes}
}

// orNull returns nil for "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// query is POST /query.
func (h *handlers) query(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b queryBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if h.o.Engine == nil {
		return 0, nil, problem.NoStore()
	}
	answer, err := h.answer(r.Context(), &b)
	if err != nil {
		return 0, nil, QueryProblem(r.Context(), h.api, err)
	}
	return http.StatusOK, answer, nil
}

// answer answers in the body's mode.
func (h *handlers) answer(ctx context.Context, b *queryBody) (any, error) {
	switch mode := strings.ToLower(strings.TrimSpace(b.Mode)); mode {
	case "", modeDialect:
		return h.dialect(ctx, b)
	case modeNatural:
		return h.natural(ctx, b)
	case modeStaged:
		return h.staged(ctx, b)
	case "lookup", "fuzzy", "search", "traverse", "sql":
		return h.verb(ctx, rem.Verb(strings.ToUpper(mode)), b)
	}
	return nil, badQuery("mode", "the mode %q is none of LOOKUP, FUZZY, SEARCH, TRAVERSE, SQL, %s, %s and %s", web.Cut(b.Mode), modeDialect, modeNatural, modeStaged)
}

// verb answers in p8's modes: with a list alone.
func (h *handlers) verb(ctx context.Context, verb rem.Verb, b *queryBody) (any, error) {
	text, err := b.text(verb)
	if err != nil {
		return nil, err
	}
	res, err := h.o.Engine.Run(ctx, text)
	var syntax *rem.SyntaxError
	switch {
	case errors.As(err, &syntax) && verb != rem.SQL:
		// The client sent fields; a column of the text made of them means nothing to it.
		param := "query"
		if verb == rem.LOOKUP || verb == rem.TRAVERSE {
			param = "key"
		}
		return nil, badQuery(param, "%s", syntax.Problem)
	case err != nil:
		return nil, err
	case res.Plan != nil:
		return []*rem.Plan{res.Plan}, nil
	case len(res.EdgeSummary) > 0:
		return res.EdgeSummary, nil
	}
	return res.Results, nil
}

func (h *handlers) dialect(ctx context.Context, b *queryBody) (any, error) {
	if strings.TrimSpace(b.Query) == "" {
		return nil, badQuery("query", `the query is missing: send {"query": "LOOKUP sarah-chen"}, or another mode`)
	}
	res, err := h.o.Engine.Run(ctx, b.Query)
	if err != nil {
		return nil, err
	}
	return queryAnswer{
		QueryType: string(res.QueryType), Query: b.Query, Results: res.Results, Count: res.Count, Mode: modeDialect, more: moreOf(&res),
	}, nil
}

func (h *handlers) natural(ctx context.Context, b *queryBody) (any, error) {
	if h.o.Asker == nil {
		return nil, noQuestions()
	}
	a, err := h.o.Asker.Ask(ctx, b.Query, ask.Request{Model: b.Model, PlanOnly: b.PlanOnly})
	if err != nil {
		return nil, err
	}
	return queryAnswer{
		QueryType: string(a.QueryType), Query: b.Query, Results: a.Results, Count: a.Count, Mode: modeNatural,
		Generated: orNull(a.Query), Parameters: &a.Parameters, Confidence: &a.Confidence,
		Reasoning: orNull(a.Reasoning), Warning: orNull(a.Warning),
		PlanOnly: a.PlanOnly, Executed: &a.Executed, Stages: a.Stages, more: moreOf(a.Found),
	}, nil
}

func (h *handlers) staged(ctx context.Context, b *queryBody) (any, error) {
	if h.o.Asker == nil {
		return nil, noQuestions()
	}
	ran, err := h.o.Asker.Run(ctx, ask.Plan{
		Stages: b.Plan, Previous: b.Previous, ResumeFrom: b.Resume, PlanOnly: b.PlanOnly, Model: b.Model,
	})
	if err != nil {
		return nil, err
	}
	answer := queryAnswer{Query: b.Query, Results: []json.RawMessage{}, Mode: modeStaged, PlanOnly: b.PlanOnly, Stages: ran}
	if len(ran) > 0 {
		last := ran[len(ran)-1]
		answer.QueryType, answer.Results, answer.Count, answer.Warning = string(last.QueryType), last.Results, last.Count, orNull(last.Warning)
	}
	return answer, nil
}

// rawBody is the body of POST /query/raw.
type rawBody struct {
	Query string `json:"query" doc:"A query of the dialect."`
	Ignored
}

func (*rawBody) Example() string { return `{"query":"LOOKUP sarah-chen"}` }

// queryRaw is POST /query/raw: one query of the dialect.
func (h *handlers) queryRaw(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b rawBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if h.o.Engine == nil {
		return 0, nil, problem.NoStore()
	}
	if strings.TrimSpace(b.Query) == "" {
		return 0, nil, badQuery("query", `the query is missing: send {"query": "LOOKUP sarah-chen"}`)
	}
	res, err := h.o.Engine.Run(r.Context(), b.Query)
	if err != nil {
		return 0, nil, QueryProblem(r.Context(), h.api, err)
	}
	return http.StatusOK, struct {
		QueryType string    `json:"query_type"`
		Results   []rem.Row `json:"results"`
		Count     int       `json:"count"`
		more
	}{string(res.QueryType), res.Results, res.Count, moreOf(&res)}, nil
}
