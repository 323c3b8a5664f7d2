package rem

import (
	"errors"
	"fmt"
)

// ErrNoVerb: a text does not begin with a verb. A caller that also accepts plain words may
// search for them with [NewFuzzy].
var ErrNoVerb = errors.New("no verb")

// ErrTimeout: a query took longer than Options.Timeout.
var ErrTimeout = errors.New("the query took too long")

// SyntaxError is a mistake in a query, with its place and the right form. It is fit for a
// model and a client.
type SyntaxError struct {
	// Column is the place in the query, in characters from 1; 0 is the query as a
	// whole.
	Column  int
	Problem string
	// Form is a query as it should be.
	Form string

	cause error
}

// Error returns the mistake on one line.
func (e *SyntaxError) Error() string {
	s := e.Problem
	if e.Column > 0 {
		s = fmt.Sprintf("column %d: %s", e.Column, e.Problem)
	}
	if e.Form != "" {
		s += "; write " + e.Form
	}
	return s
}

// Unwrap returns ErrNoVerb or the store's error where that is the cause.
func (e *SyntaxError) Unwrap() error { return e.cause }

// The right form of each verb.
const (
	lookupForm   = `LOOKUP key, or LOOKUP [key, "another, key"]`
	fuzzyForm    = `FUZZY text [FROM manual] [THRESHOLD 0.3] [LIMIT 10]`
	searchForm   = `SEARCH text [FROM resources, moments] [WHERE "condition"] [CATEGORY name] [MIN_SIMILARITY 0.3] [LIMIT 10] [HYBRID]`
	traverseForm = `TRAVERSE key [TYPE relation, relation] [DIRECTION in|out|both] [DEPTH 1] [LIMIT 20] [LOAD], or TRAVERSE [TYPE relation] WITH query`
	sqlForm      = `SQL SELECT … FROM table …, or SQL table [WHERE "condition"] [ORDER BY column] [LIMIT 10]`
	explainForm  = `EXPLAIN query`
	allForms     = `LOOKUP key, FUZZY text, SEARCH text [FROM table], TRAVERSE key [DEPTH 1], SQL SELECT … or EXPLAIN query`
)

// problemf returns a SyntaxError at a column.
func problemf(column int, format string, args ...any) error {
	return &SyntaxError{Column: column, Problem: fmt.Sprintf(format, args...)}
}

// withForm shows the form in an error that does not show one.
func withForm(form string, err error) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) && syntax.Form == "" {
		syntax.Form = form
	}
	return err
}
