package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
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

// Scope is who asks, for what the database itself enforces.
type Scope struct {
	// Tenant and User; User is "" for an anonymous caller.
	Tenant, User string
}

// RowOwner is whose rows they are: a user's in a tenant, or the shared ones, whose
// user is "".
type RowOwner struct{ TenantID, UserID string }

// Reads lists whose rows of a table the scope sees, the nearest first: its own,
// its tenant's shared ones, the system's. Moments are seen by their user alone,
// those without a user by anonymous callers alone.
func (sc Scope) Reads(table string) []RowOwner {
	own, shared := RowOwner{sc.Tenant, sc.User}, RowOwner{TenantID: sc.Tenant}
	if table == "moments" || sc.Tenant == identity.SystemTenant && sc.User == "" {
		return []RowOwner{own}
	}
	list := []RowOwner{own}
	if sc.User != "" {
		list = append(list, shared)
	}
	if sc.Tenant != identity.SystemTenant {
		list = append(list, RowOwner{TenantID: identity.SystemTenant})
	}
	return list
}

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
