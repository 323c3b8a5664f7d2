package store

import (
	"context"
	"time"
)

// Engine is a database. It runs SQL with the parameters $1…$n, each of which is used at
// least once, in any order.
//
// Arguments are nil, string, json.RawMessage, int, int64, float64, bool,
// time.Time (UTC, microseconds) and []float32 (a vector); an empty json.RawMessage is NULL. A violated
// unique key is reported as an error that wraps [ErrConflict].
type Engine interface {
	// Read runs fn for a caller, with a connection that cannot write. Besides the
	// conditions of fn's statements, the engine's database limits them to the rows that
	// the scope may read, if the engine has a way to do so.
	Read(ctx context.Context, sc Scope, fn func(Conn) error) error
	// Write runs fn for a caller in one transaction, which is durable when Write returns
	// nil and leaves no trace when fn or Write fails. The database limits it as in Read,
	// and the rows that are written to those of the scope's tenant.
	Write(ctx context.Context, sc Scope, fn func(Conn) error) error
	// ReadSystem and WriteSystem are Read and Write for p8 itself: they reach the rows of
	// all tenants. Only [Maintenance], [Access] and engines call them.
	ReadSystem(ctx context.Context, fn func(Conn) error) error
	WriteSystem(ctx context.Context, fn func(Conn) error) error
	// Select runs a SELECT that the caller wrote. The database itself limits it to the
	// rows that sc may read. A mistake in the text is a [*SelectError].
	Select(ctx context.Context, sc Scope, sql string, b SelectBounds) (Selection, error)
	// Dialect is the variant of SQL that the engine takes.
	Dialect() Dialect
	// Close waits for running transactions and closes the database.
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
	// PrepareModel makes the index for the vectors of a model, unless it exists.
	PrepareModel(ctx context.Context, model string, dimensions int) error
}

// KeywordRanker is implemented by every engine: it ranks rows by the words of their
// text.
type KeywordRanker interface {
	// Keywords ranks the rows of q.Table by the terms in their text, the
	// best first, at most q.Limit: the visible ones, of q.Category unless that is
	// "", among ids unless that is nil. The text is the first [KeywordText]
	// characters of the name, a line feed and the embedded column; one term is
	// enough. The terms are those of [KeywordTerms], one at least, and are words,
	// never syntax. Scores (the greater the better) compare within one answer only;
	// equal ones are ordered by id. The query is checked and its defaults are set.
	Keywords(ctx context.Context, sc Scope, q SearchQuery, terms []Term, ids []string) ([]Ranked, error)
}

// MessageFinder is implemented by every engine: it finds messages by the words of their
// text.
type MessageFinder interface {
	// FindMessages calls each for the newest messages of a user, at most limit, that have
	// all terms in the text that PutText got, the newest first. The terms are those of
	// [KeywordTerms], one at least.
	FindMessages(ctx context.Context, c Conn, owner RowOwner, terms []Term, limit int, each func(session string, seq int64)) error
}

// Grower is implemented by an engine that chooses how to run a statement by what it once
// counted in the tables. Grew tells it how many rows of knowledge a transaction has written.
type Grower interface {
	Grew(ctx context.Context, rows int)
}

// TextIndexer is implemented by an engine that keeps an index of words for Keywords and
// FindMessages.
// Other engines index the rows by themselves.
type TextIndexer interface {
	// PutText replaces the indexed text of a row in the transaction of c; DeleteText
	// removes it, if there is one.
	PutText(ctx context.Context, c Conn, t IndexedText) error
	DeleteText(ctx context.Context, c Conn, t IndexedText) error
	// DeleteTexts removes rows of a table, DropTexts whatever is left of an owner.
	DeleteTexts(ctx context.Context, c Conn, tenant, table string, ids []string) error
	DropTexts(ctx context.Context, c Conn, owner RowOwner) error
}

// IndexedText is the text of a row; Owner is its user_id, "" for a shared one and for a
// message of an anonymous caller.
type IndexedText struct {
	TenantID, Owner, Table, ID string
	Text                       string
}

// Ranked is a row and how near it is: the cosine similarity, or the keyword
// score.
type Ranked struct {
	TenantID, ID string
	Score        float64
	// query is the number of the store's query that found the row.
	query int
}

// Conn runs statements; it is valid until the function that got it returns.
type Conn interface {
	// Exec runs a statement and counts the rows it changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Query calls each for every row, in order, until it returns an error.
	Query(ctx context.Context, sql string, each func(Row) error, args ...any) error
	// Later runs a statement whose rows fn does not need before it returns. An engine may
	// keep it until the next Exec or Query, or the end of fn, and send several in one round
	// trip; they run in order, also with Exec and Query. Its error is returned by Later or
	// by a later call, at the latest by Read or Write, which then rolls back. The Later
	// statements of a Read see one state of the database, unless an Exec or Query comes
	// between them.
	Later(ctx context.Context, s Statement) error
}

// Statement is a statement for Later.
type Statement struct {
	SQL  string
	Args []any
	// Each, unless nil, is called for every row, in order. It may only Scan, and set
	// variables that may be set again: the transaction may be over, or run again.
	Each func(Row) error
	// Missing, unless nil, is called if there is no row. Its error aborts fn. It may use
	// the connection: an engine that kept the statement runs fn again from its beginning,
	// each statement at once.
	Missing func() error
}

// Run runs the statement at once. It implements Later for engines that do not pipeline.
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
	// Scan reads the columns in order into *string, **string, *int, *int64, *float64,
	// *bool, *time.Time, *json.RawMessage and *[]float32 (whose memory it reuses). NULL
	// becomes the zero value.
	Scan(dest ...any) error
}

// Selection is the result of a SELECT that a caller wrote.
type Selection struct {
	Columns []string `json:"columns"`
	// Rows hold nil, bool, int64, float64, string and json.RawMessage; times are
	// RFC 3339 in UTC.
	Rows [][]any `json:"rows"`
	// Truncated is true if a bound (rows, bytes) cut the result.
	Truncated bool `json:"truncated,omitempty"`
}

// SelectError is a mistake in a SELECT, in words for a model and a client.
type SelectError struct {
	// Position is the place in the text, in characters from 1; 0 is unknown.
	Position int
	Problem  string
}

// Error returns the problem.
func (e *SelectError) Error() string { return e.Problem }

// SearchQuery asks for the rows of a table whose texts are nearest to a vector.
type SearchQuery struct {
	// Table is a table that has an embedding field; "" for resources.
	Table string
	// Field is the embedded column; "" is the table's.
	Field string
	// Model made the vector; vectors of another model are never compared.
	Model  string
	Vector []float32
	// Text is the question. A Hybrid search also ranks by its words, and fuses the two
	// rankings (reciprocal rank fusion, k = 60; Cormack et al. 2009).
	Text   string
	Hybrid bool
	// MinSimilarity is the least cosine similarity; 0 is no bound. It does not apply to
	// rows that a Hybrid search finds by their words.
	MinSimilarity float64
	// Category, where the table has that column.
	Category string
	// Where is a condition of the caller in SQL, under the rules of Select.
	Where string
	// Limit is the most rows, 0 for 10; at most 200.
	Limit int
}

// Sharer is implemented by an engine that bounds the concurrent queries of callers; the
// bound of other engines is defaultQueries.
type Sharer interface {
	// Queries returns how many queries run at once, and how many may have begun;
	// SelectBounds.Yield pauses those beyond the first number.
	Queries() (running, underWay int)
}
