package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
)

// queryBody is the body of POST /query: p8's fields, then REM's.
type queryBody struct {
	Mode string `json:"mode,omitempty" doc:"LOOKUP, FUZZY, SEARCH, TRAVERSE and SQL answer a list of results; rem-dialect (the default), natural-language and staged-plan an object."`
	Key  string `json:"key,omitempty" doc:"The key of LOOKUP (several with commas) and TRAVERSE."`
	// Query of mode SQL may be any query of the dialect (p8).
	Query         string   `json:"query,omitempty" doc:"The text of FUZZY and SEARCH, a SELECT or any query of the dialect for SQL and rem-dialect, a question for natural-language."`
	Table         string   `json:"table,omitempty" doc:"The table of SEARCH; resources without it."`
	Field         string   `json:"field,omitempty" doc:"The embedded field of SEARCH; the table's own without it."`
	Category      string   `json:"category,omitempty" doc:"Only rows of this category, for SEARCH."`
	Limit         *int     `json:"limit,omitempty" doc:"The most results; 10 without it."`
	Threshold     *float64 `json:"threshold,omitempty" doc:"The least similarity of FUZZY; 0.3 without it."`
	MinSimilarity *float64 `json:"min_similarity,omitempty" doc:"The least similarity of SEARCH; the embedding model's own without it."`
	MaxDepth      *int     `json:"max_depth,omitempty" doc:"How far TRAVERSE goes; 1 without it, 0 only shows the edges."`
	RelType       string   `json:"rel_type,omitempty" doc:"The relations that TRAVERSE follows, with commas; all without it."`

	Model    string            `json:"model,omitempty" doc:"The model that writes the query of a question, as provider:model."`
	PlanOnly bool              `json:"plan_only,omitempty" doc:"Answer the query of a question, or the order of a plan, and run nothing."`
	Plan     []ask.Stage       `json:"plan,omitempty" doc:"The stages of staged-plan, 10 at most."`
	Previous []ask.StageResult `json:"previous_results,omitempty" doc:"Stages that were run before, as stage_results answered them."`
	Resume   int               `json:"resume_from_stage,omitempty" doc:"Leaves out the stages with smaller numbers."`

	// Who asks is never taken from a body.
	TenantID json.RawMessage `json:"tenant_id,omitempty" doc:"Ignored: who asks is said by the headers."`
	UserID   json.RawMessage `json:"user_id,omitempty" doc:"Ignored, as tenant_id is."`
}

func (*queryBody) example() string { return `{"mode":"LOOKUP","key":"sarah-chen"}` }

// The modes of REM; those of p8 are the verbs.
const (
	modeDialect = "rem-dialect"
	modeNatural = "natural-language"
	modeStaged  = "staged-plan"
)

// queryAnswer is the answer of REM's modes; what a mode does not have is null.
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

// more is what some queries answer besides rows.
type more struct {
	Missing     []string          `json:"missing,omitempty"`
	Suggestions []string          `json:"suggestions,omitempty"`
	EdgeSummary []rem.EdgeSummary `json:"edge_summary,omitempty"`
	Explained   *rem.Plan         `json:"plan,omitempty"`
	Truncated   bool              `json:"truncated,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
}

// moreOf is that of a result, nothing for none.
func moreOf(r *rem.Result) more {
	if r == nil {
		return more{}
	}
	return more{r.Missing, r.Suggestions, r.EdgeSummary, r.Plan, r.Truncated, r.Notes}
}

// orNull is nil for "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// query is POST /query.
func (h *Handler) query(w http.ResponseWriter, r *http.Request) {
	var b queryBody
	if f := h.readJSON(w, r, &b); f != nil {
		h.fail(w, r, f)
		return
	}
	if h.o.Knowledge == nil {
		h.fail(w, r, noStore())
		return
	}
	answer, err := h.answer(r.Context(), &b)
	if err != nil {
		h.fail(w, r, h.queryFailure(r.Context(), err))
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// answer is the answer of the body's mode.
func (h *Handler) answer(ctx context.Context, b *queryBody) (any, error) {
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
	return nil, badQuery("mode", "the mode %q is none of LOOKUP, FUZZY, SEARCH, TRAVERSE, SQL, %s, %s and %s", cut(b.Mode), modeDialect, modeNatural, modeStaged)
}

// verb answers p8's modes: a bare list.
func (h *Handler) verb(ctx context.Context, verb rem.Verb, b *queryBody) (any, error) {
	text, err := b.text(verb)
	if err != nil {
		return nil, err
	}
	res, err := h.o.Knowledge.Run(ctx, text)
	var syntax *rem.SyntaxError
	switch {
	case errors.As(err, &syntax) && verb != rem.SQL:
		// The client wrote fields; a column of the text made of them says nothing.
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

func (h *Handler) dialect(ctx context.Context, b *queryBody) (any, error) {
	if strings.TrimSpace(b.Query) == "" {
		return nil, badQuery("query", `the query is missing: send {"query": "LOOKUP sarah-chen"}, or another mode`)
	}
	res, err := h.o.Knowledge.Run(ctx, b.Query)
	if err != nil {
		return nil, err
	}
	return queryAnswer{
		QueryType: string(res.QueryType), Query: b.Query, Results: res.Results, Count: res.Count, Mode: modeDialect, more: moreOf(&res),
	}, nil
}

func (h *Handler) natural(ctx context.Context, b *queryBody) (any, error) {
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

func (h *Handler) staged(ctx context.Context, b *queryBody) (any, error) {
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
}

func (*rawBody) example() string { return `{"query":"LOOKUP sarah-chen"}` }

// queryRaw is POST /query/raw (p8): one query of the dialect.
func (h *Handler) queryRaw(w http.ResponseWriter, r *http.Request) {
	var b rawBody
	if f := h.readJSON(w, r, &b); f != nil {
		h.fail(w, r, f)
		return
	}
	if h.o.Knowledge == nil {
		h.fail(w, r, noStore())
		return
	}
	if strings.TrimSpace(b.Query) == "" {
		h.fail(w, r, badQuery("query", `the query is missing: send {"query": "LOOKUP sarah-chen"}`))
		return
	}
	res, err := h.o.Knowledge.Run(r.Context(), b.Query)
	if err != nil {
		h.fail(w, r, h.queryFailure(r.Context(), err))
		return
	}
	writeJSON(w, http.StatusOK, struct {
		QueryType string    `json:"query_type"`
		Results   []rem.Row `json:"results"`
		Count     int       `json:"count"`
		more
	}{string(res.QueryType), res.Results, res.Count, moreOf(&res)})
}

// badQuery is a query that cannot be run.
func badQuery(param, format string, args ...any) *failure {
	f := invalid(param, format, args...)
	f.status, f.code = http.StatusBadRequest, "invalid_query"
	return f
}

// queryFailure words an error of a query: its place is in the details.
func (h *Handler) queryFailure(ctx context.Context, err error) *failure {
	var (
		syntax *rem.SyntaxError
		input  *ask.InputError
		staged *ask.StageError
	)
	var f *failure
	switch {
	case errors.As(err, &syntax):
		f = badQuery("query", "%s", syntax.Error())
		f.column = syntax.Column
	case errors.As(err, &input):
		f = badQuery(input.Field, "%s", input.Message)
	case errors.Is(err, rem.ErrTimeout):
		f = badQuery("query", "%s", err)
		f.code = "query_timeout"
	default:
		return h.restFailure(ctx, "row", err)
	}
	if errors.As(err, &staged) {
		f.message = staged.Error()
	}
	return f
}
