package store

import (
	"context"
	"time"
)

// Engine is a database. It runs SQL with $1…$n parameters; each is used at
// least once and may be used again, in any order.
//
// Arguments are nil, string, json.RawMessage, int, int64, float64, bool,
// time.Time (UTC, microseconds) and []float32 (a vector); an empty json.RawMessage is NULL. A violated
// unique key is reported as an error that wraps [ErrConflict].
type Engine interface {
	// Read runs fn with a connection that cannot write.
	Read(ctx context.Context, fn func(Conn) error) error
	// Write runs fn in one transaction, which is durable when Write returns nil
	// and leaves no trace when fn or Write fails.
	Write(ctx context.Context, fn func(Conn) error) error
	// Select runs a SELECT that the caller wrote, seeing what sc may see and
	// nothing else: the database itself makes sure of that. A mistake in the text
	// is a [*SelectError].
	Select(ctx context.Context, sc Scope, sql string, b SelectBounds) (Selection, error)
	// Dialect says which variant of a statement the engine takes.
	Dialect() Dialect
	// Close waits for what runs and closes the database.
	Close() error
}

// Dialect is an engine's SQL where the two differ.
type Dialect int

// The dialects.
const (
	DialectSQLite Dialect = iota
	DialectPostgres
)

// SelectBounds bound a caller's SELECT; a result that reaches Rows or Bytes is
// cut, one that reaches Timeout is a SelectError.
type SelectBounds struct {
	Rows    int
	Bytes   int
	Timeout time.Duration
	// Explain returns the plan instead, one column of text.
	Explain bool
	// Yield, unless nil, is called now and then while the SELECT runs, by an engine
	// that can pause one; it may wait. Its error ends the SELECT. The store sets it.
	Yield func(context.Context) error
}

// Indexed is an engine with indexes of its own for FUZZY and SEARCH. For one
// without, the Store keeps them in memory, built from the rows.
type Indexed interface {
	// Fuzzy is Store.Fuzzy for a scope, in its order; threshold and limit are set.
	Fuzzy(ctx context.Context, sc Scope, text string, threshold float64, limit int) ([]Match, error)
	// Nearest ranks the rows of a table by their vectors, the nearest first: the
	// visible ones, among ids unless that is nil. The query is checked and its
	// defaults are set; Where, Text and Hybrid are for the Store.
	Nearest(ctx context.Context, sc Scope, q SearchQuery, ids []string) ([]Ranked, error)
	// PrepareModel makes the index for the vectors of a model, when it has none.
	PrepareModel(ctx context.Context, model string, dimensions int) error
}

// KeywordRanker is an engine that ranks rows by the words of their text; every
// engine is one.
type KeywordRanker interface {
	// Keywords ranks the rows of q.Table by the terms that their text holds, the
	// best first, at most q.Limit: the visible ones, of q.Category unless that is
	// "", among ids unless that is nil. The text is the first [KeywordText]
	// characters of the name, a line feed and the embedded column; one term is
	// enough. The terms are those of [KeywordTerms], one at least, and are words,
	// never syntax. Scores (the greater the better) compare within one answer only;
	// equal ones are ordered by id. The query is checked and its defaults are set.
	Keywords(ctx context.Context, sc Scope, q SearchQuery, terms, ids []string) ([]Ranked, error)
}

// TextIndexer is an engine that wants to be told of the texts of rows, for
// Keywords; one without it reads them from the rows by itself.
type TextIndexer interface {
	// PutText indexes the text of a row, instead of the one it had, in the
	// transaction of c, and DeleteText forgets it, if there is one.
	PutText(ctx context.Context, c Conn, t IndexedText) error
	DeleteText(ctx context.Context, c Conn, t IndexedText) error
}

// IndexedText is the text of a row; Owner is its user_id, "" for a shared one.
type IndexedText struct {
	TenantID, Owner, Table, ID string
	Text                       string
}

// Ranked is a row and how near it is: the cosine similarity, or the keyword
// score.
type Ranked struct {
	TenantID, ID string
	Score        float64
}

// Conn runs statements; it is valid until the function that got it returns.
type Conn interface {
	// Exec runs a statement and counts the rows it changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Query calls each for every row, in order, until it returns an error.
	Query(ctx context.Context, sql string, each func(Row) error, args ...any) error
	// Later runs a statement whose rows fn does not need before it returns: an engine
	// may keep it until the next Exec or Query, or the end of fn, and send several in
	// one round trip. They run in order, also with Exec and Query. What goes wrong with
	// one is an error of Later or of a later call, at the latest of Read or Write; of a
	// Write nothing is left then. The Later statements of a Read see one state of the
	// database, unless an Exec or Query comes between.
	Later(ctx context.Context, s Statement) error
}

// Statement is what Later runs.
type Statement struct {
	SQL  string
	Args []any
	// Each, unless nil, is called for every row, in order. It may do no more than
	// Scan and set what may be set again: the transaction may be over by then, and
	// may be run again.
	Each func(Row) error
	// Missing, unless nil, is called when there is no row. Its error ends fn's work;
	// without one the work goes on. It may use the connection: a writing engine that
	// kept the statement runs fn again from its beginning, each statement at once.
	Missing func() error
}

// Run runs the statement at once: Later, for an engine that has nothing to gain by
// waiting.
func (s *Statement) Run(ctx context.Context, c Conn) error {
	if s.Each == nil && s.Missing == nil {
		_, err := c.Exec(ctx, s.SQL, s.Args...)
		return err
	}
	found := false
	err := c.Query(ctx, s.SQL, func(r Row) error {
		found = true
		if s.Each == nil {
			return nil
		}
		return s.Each(r)
	}, s.Args...)
	if err == nil && !found && s.Missing != nil {
		err = s.Missing()
	}
	return err
}

// Row is a row of a result.
type Row interface {
	// Scan reads the columns in order. The targets are *string, **string, *int,
	// *int64, *float64, *bool, *time.Time, *json.RawMessage and *[]float32, whose
	// memory is used again; NULL reads as the zero value.
	Scan(dest ...any) error
}

// Selection is the result of a SELECT that a caller wrote.
type Selection struct {
	Columns []string `json:"columns"`
	// Rows hold nil, bool, int64, float64, string and json.RawMessage; times are
	// RFC 3339 in UTC.
	Rows [][]any `json:"rows"`
	// Truncated says that a bound (rows, bytes) cut the result.
	Truncated bool `json:"truncated,omitempty"`
}

// SelectError says what is wrong with a SELECT. It is fit for a model and a
// client.
type SelectError struct {
	// Position is the place in the text, in characters from 1; 0 is unknown.
	Position int
	Problem  string
}

// Error is the problem.
func (e *SelectError) Error() string { return e.Problem }

// SearchQuery asks for the rows of a table whose texts are nearest to a vector.
type SearchQuery struct {
	// Table is a table that has an embedding field, "" is resources.
	Table string
	// Field is the embedded column; "" is the table's.
	Field string
	// Model made the vector; vectors of another model are never compared.
	Model  string
	Vector []float32
	// Text is what was asked; a Hybrid search ranks by its words too, and fuses
	// the two ranks (reciprocal rank fusion, k = 60; Cormack et al. 2009).
	Text   string
	Hybrid bool
	// MinSimilarity is the least cosine similarity; 0 is no bound. It does not
	// bind what a Hybrid search found by its words.
	MinSimilarity float64
	// Category, where the table has that column.
	Category string
	// Where is a condition of the caller in SQL, under the rules of Select.
	Where string
	// Limit is the most rows, 0 for 10; at most 200.
	Limit int
}

// Sharer is an engine that says how many queries of callers may run at once; for
// others it is defaultQueries.
type Sharer interface {
	// Queries is how many queries run at once, and how many may be under way: those
	// beyond the first number are paused by SelectBounds.Yield.
	Queries() (running, underWay int)
}
