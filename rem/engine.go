package rem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// Knowledge is implemented by *store.Store. Every method reads what the caller in the
// context may read, the caller's own rows before shared ones.
type Knowledge interface {
	// Lookup returns every row with a key.
	Lookup(ctx context.Context, key string) ([]store.Match, error)
	// Fuzzy returns the rows that resemble a text, the best first.
	Fuzzy(ctx context.Context, text string, threshold float64, limit int) ([]store.Match, error)
	// MessageBySeq returns the message of a session with a number. If there is no such
	// message, the error is store.ErrNotFound.
	MessageBySeq(ctx context.Context, sessionID string, seq int64) (store.Message, error)
	// Message returns a stored message by its id. If there is no such message, the error is
	// store.ErrNotFound.
	Message(ctx context.Context, id string) (store.Message, error)
	// Nodes returns every row with one of the keys and its edges, own rows first.
	Nodes(ctx context.Context, keys []string) ([]store.Node, error)
	// Inward returns the edges that point to the keys, the heaviest of each key and
	// relation; no relations are all.
	Inward(ctx context.Context, keys, relations []string, limit int) ([]store.Link, error)
	// Load returns the whole rows of nodes, nil for a deleted one.
	Load(ctx context.Context, nodes ...store.Node) ([]json.RawMessage, error)
	// Search returns the whole rows that are nearest to a vector or to words, of one table for
	// each query.
	Search(ctx context.Context, queries ...store.SearchQuery) ([]store.Match, error)
	// Select runs a SELECT; a mistake in its text is a *store.SelectError.
	Select(ctx context.Context, sql string, b store.SelectBounds) (store.Selection, error)
	// Tables lists the tables that a SELECT may read; the list never changes.
	Tables() []store.TableInfo
}

// Embedder makes vectors of search texts.
type Embedder interface {
	// Name names the model; vectors of different models are never compared.
	Name() string
	// MinSimilarity is the least cosine similarity of two related texts in this model.
	MinSimilarity() float64
	// EmbedQuery returns the vector of a question.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Options configure an engine. Knowledge is required.
type Options struct {
	Knowledge Knowledge
	// Embedder may be nil: then SEARCH ranks by words.
	Embedder Embedder
	// MinSimilarity is the default of SEARCH; nil is the embedder's.
	MinSimilarity *float64
	// Hybrid also ranks every SEARCH by words, for an embedding model that compares words
	// rather than meanings.
	Hybrid bool
	// Timeout bounds one query, 0 for 5 s.
	Timeout time.Duration
	// Bytes bounds the rows of one SQL answer, 0 for 1 MiB.
	Bytes int
	// Dialect is the store's, for EXPLAIN.
	Dialect store.Dialect
	// Before is called before each query, to update what it reads; nil does nothing.
	Before func(context.Context)
	// Logger receives internal errors, which no client may read; nil is slog.Default.
	Logger *slog.Logger
}

// Engine answers queries. It is safe for concurrent use.
type Engine struct {
	Options
	tables  []store.TableInfo
	options parseOptions
}

// New returns an engine.
func New(o Options) *Engine {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Bytes <= 0 {
		o.Bytes = 1 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	e := &Engine{Options: o, tables: o.Knowledge.Tables()}
	for _, t := range e.tables {
		e.options.Tables = append(e.options.Tables, t.Name)
	}
	return e
}

// Tables lists the tables that SQL may read.
func (e *Engine) Tables() []store.TableInfo { return slices.Clone(e.tables) }

// Parse reads a query about the tables of the store. The error is a
// *SyntaxError.
func (e *Engine) Parse(text string) (Query, error) { return e.options.parse(text) }

// Run answers the text of a query. A mistake in it is a *SyntaxError whose column is one
// of the text; see [Engine.Execute] for other errors.
func (e *Engine) Run(ctx context.Context, text string) (Result, error) {
	return e.RunLimited(ctx, text, 0)
}

// RunLimited is Run with a limit for a query that has none, as [WithLimit] sets
// it; 0 is the default of its verb.
func (e *Engine) RunLimited(ctx context.Context, text string, limit int) (Result, error) {
	q, err := e.Parse(text)
	if err != nil {
		return Result{}, err
	}
	if limit > 0 {
		q = WithLimit(q, limit)
	}
	return e.execute(ctx, q, text)
}

// Execute answers a query. Unknown keys are no error. A mistake in the query is a
// *SyntaxError whose column is one of its canonical form, or wraps store.ErrInvalid. A
// query that takes too long is ErrTimeout; one that is refused because others are running
// is a *store.BusyError. These errors are fit for a client, others are not.
func (e *Engine) Execute(ctx context.Context, q Query) (Result, error) {
	if q == nil {
		return Result{}, fmt.Errorf("rem: no query")
	}
	return e.execute(ctx, q, q.String())
}

func (e *Engine) execute(ctx context.Context, q Query, text string) (Result, error) {
	if e.Before != nil {
		e.Before(ctx)
	}
	ctx, op := telemetry.Start(ctx, telemetry.Retrieval, string(q.Verb()))
	op.String(telemetry.DataSource, string(q.Verb()))
	if op.Content() {
		op.String(telemetry.Query, text)
	}
	limited, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	res, err := e.answer(limited, q)
	if err != nil {
		err = e.explainError(ctx, q, text, err)
		op.End(err)
		return Result{}, err
	}
	describe(op, &res)
	op.End(nil)
	return res, nil
}

// answer answers a query within the time of the context.
func (e *Engine) answer(ctx context.Context, query Query) (Result, error) {
	res := Result{QueryType: query.Verb(), Results: []Row{}}
	var err error
	switch q := query.(type) {
	case Lookup:
		err = e.lookup(ctx, q, &res)
	case Fuzzy:
		err = e.fuzzy(ctx, q, &res)
	case Search:
		err = e.search(ctx, q, &res)
	case Traverse:
		err = e.traverse(ctx, q, &res)
	case Select:
		err = e.selection(ctx, q, &res)
	case Explain:
		var plan Plan
		plan, err = e.plan(ctx, q.Query)
		res.Plan = &plan
	default:
		err = fmt.Errorf("rem: cannot execute a %T", query)
	}
	res.Count = len(res.Results)
	return res, err
}

// explainError makes an error fit for the caller: it maps a position in the SQL to one in
// the text, and the engine's own deadline to ErrTimeout.
func (e *Engine) explainError(ctx context.Context, q Query, text string, err error) error {
	var wrong *store.SelectError
	switch {
	case errors.As(err, &wrong):
		return &SyntaxError{Column: columnOf(text, sqlOf(q), wrong.Position), Problem: wrong.Problem, cause: err}
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("%w: it may take %s; ask for less", ErrTimeout, e.Timeout)
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrBusy):
		return err
	}
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		return err
	}
	return fmt.Errorf("rem: %s: %w", q.Verb(), err)
}

// sqlOf returns the SQL inside a query, "" for a query without SQL.
func sqlOf(query Query) string {
	switch q := query.(type) {
	case Select:
		return q.Text
	case Search:
		return q.Where
	case Explain:
		return sqlOf(q.Query)
	case Traverse:
		return sqlOf(q.With)
	}
	return ""
}

// columnOf maps a position in sql, a part of the text, to the text; 0 if it is unknown.
func columnOf(text, sql string, position int) int {
	before, _, ok := strings.Cut(text, sql)
	if !ok || sql == "" || position < 1 {
		return 0
	}
	return utf8.RuneCountInString(before) + position
}
