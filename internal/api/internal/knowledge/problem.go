package knowledge

import (
	"context"
	"errors"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
)

// badQuery is a query that cannot be run.
func badQuery(param, format string, args ...any) *problem.Problem {
	f := problem.Invalid(param, format, args...)
	f.Status, f.Code = http.StatusBadRequest, "invalid_query"
	return f
}

// QueryProblem returns an error of a query as a problem, which names the field or the
// column that is wrong.
func QueryProblem(ctx context.Context, api *rest.API, err error) *problem.Problem {
	var (
		syntax *rem.SyntaxError
		input  *ask.InputError
		staged *ask.StageError
	)
	var f *problem.Problem
	switch {
	case errors.As(err, &syntax):
		f = badQuery("query", "%s", syntax.Error())
		f.Column = syntax.Column
	case errors.As(err, &input):
		f = badQuery(input.Field, "%s", input.Message)
	case errors.Is(err, rem.ErrTimeout):
		f = badQuery("query", "%s", err)
		f.Code = "query_timeout"
	default:
		return api.About(ctx, "row", err)
	}
	if errors.As(err, &staged) {
		f.Message = staged.Error()
	}
	return f
}

// noQuestions is the answer of a server that has no Asker.
func noQuestions() *problem.Problem {
	return &problem.Problem{
		Status: http.StatusNotImplemented, Code: "questions_disabled",
		Message: "this server takes queries, not questions; see POST /query",
	}
}
