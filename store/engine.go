package store

import "context"

// Engine is a database. It runs SQL with $1…$n parameters; each is used at
// least once and may be used again, in any order.
//
// Arguments are nil, string, json.RawMessage, int, int64, float64, bool and
// time.Time (UTC, microseconds); an empty json.RawMessage is NULL. A violated
// unique key is reported as an error that wraps [ErrConflict].
type Engine interface {
	// Read runs fn with a connection that cannot write.
	Read(ctx context.Context, fn func(Conn) error) error
	// Write runs fn in one transaction, which is durable when Write returns nil
	// and leaves no trace when fn or Write fails.
	Write(ctx context.Context, fn func(Conn) error) error
	// Close waits for what runs and closes the database.
	Close() error
}

// Conn runs statements; it is valid until the function that got it returns.
type Conn interface {
	// Exec runs a statement and counts the rows it changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Query calls each for every row, in order, until it returns an error.
	Query(ctx context.Context, sql string, each func(Row) error, args ...any) error
}

// Row is a row of a result.
type Row interface {
	// Scan reads the columns in order. The targets are *string, **string, *int,
	// *int64, *float64, *bool, *time.Time and *json.RawMessage; NULL reads as
	// the zero value.
	Scan(dest ...any) error
}
