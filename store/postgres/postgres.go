// Package postgres is p8's engine for production: PostgreSQL 15 or newer with
// the extensions vector (pgvector, 0.8 or newer) and pg_trgm.
//
//	s, err := postgres.Open(ctx, postgres.Options{URL: url})
//
// Any number of processes may share the database. Open applies missing migrations under
// an advisory lock, so that replicas which start together wait for one another; see
// migrations/. Open and [Doctor] name missing prerequisites with the remedy.
//
// Reading and writing have a pool of connections each. The reading connections
// are read-only by their settings (default_transaction_read_only), so that a
// single query is a single round trip and still cannot write. A Write is one READ
// COMMITTED transaction, which is retried a few times after a deadlock. Statements whose
// rows are not needed are sent together, with BEGIN and COMMIT, in one round trip; see
// pipeline.go. Statements are prepared once a connection (pgx's cache), and values are
// sent in PostgreSQL's binary form.
//
// FUZZY and SEARCH use indexes of the database: a GIN index of trigrams over the key
// index, and one HNSW index for each embedding model and table. Their settings hold for
// one pipelined batch, which is its own transaction: one round trip, and no setting
// remains in a pooled connection.
//
// No URL, password or user's text is ever part of an error or a log line.
//
// Row-level security binds all statements for callers: the SELECTs that they write, under the
// role p8_reader and a signed setting, and the store's own, under the role p8_caller (see
// caller.go). The store's statements name the tenant and the user, too: a mistake in one
// shows no row of another tenant. FUZZY and keyword searches read views instead, because the
// operators of GIN indexes are not leakproof. p8 itself (migrations, jobs, recovery,
// authentication) is the tables' owner, whom no policy binds.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/p8-org/p8/store"
)

// Options name the database and configure the engine.
type Options struct {
	// URL is postgres://user:password@host:port/database?sslmode=…, or a
	// keyword/value string as libpq takes it.
	URL string
	// MaxConns is the most connections, reading and writing together; 0 is four a
	// processor, 8 at least and 40 at most; fewer than 3 count as 3, so that queries
	// of callers leave one for reading and one for writing. The server must have room
	// for those of every replica.
	MaxConns int
	// Logger receives migrations and the building of indexes; nil is slog.Default().
	Logger *slog.Logger
	// Reserved are those of store.Options.
	Reserved []string
	// Replaces is that of store.Options.
	Replaces func(before, after *store.Schema) error
	// Encryption is that of store.Options.
	Encryption store.Encryption
	// ReadOnly opens a database that is up to date and changes nothing: Open fails
	// with [ErrOutdated], every write with [ErrReadOnly].
	ReadOnly bool
}

var (
	// ErrOutdated: the database must be migrated before it is read.
	ErrOutdated = errors.New("the database is of an older version: open it for writing first")
	// ErrReadOnly: the database was opened for reading.
	ErrReadOnly = errors.New("the database is open for reading only")
)

// Open connects to the database and migrates it as needed. The context bounds
// the opening only.
func Open(ctx context.Context, o Options) (*store.Store, error) {
	e, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, e, store.Options{Reserved: o.Reserved, Encryption: o.Encryption, Replaces: o.Replaces})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func open(ctx context.Context, o Options) (*engine, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.MaxConns <= 0 {
		o.MaxConns = min(40, max(8, 4*runtime.GOMAXPROCS(0)))
	}
	if o.ReadOnly {
		return openReadOnly(ctx, o)
	}
	if err := Migrate(ctx, o.URL, o.Logger); err != nil {
		return nil, err
	}
	enter, err := prepareRoles(ctx, o)
	if err != nil {
		return nil, err
	}
	o.MaxConns = max(3, o.MaxConns)
	reads := (o.MaxConns + 1) / 2
	readers, err := newPool(ctx, o.URL, reads, true)
	if err != nil {
		return nil, err
	}
	writers, err := newPool(ctx, o.URL, o.MaxConns-reads, false)
	if err != nil {
		readers.Close()
		return nil, err
	}
	return &engine{readers: shared(readers), writers: shared(writers), log: o.Logger, enter: enter}, nil
}

// openReadOnly opens a database that other processes may be writing.
func openReadOnly(ctx context.Context, o Options) (*engine, error) {
	c, err := connect(ctx, o.URL)
	if err != nil {
		return nil, err
	}
	defer disconnect(c)
	_, pending, err := behind(ctx, c)
	switch {
	case err != nil:
		return nil, fmt.Errorf("postgres: %w", err)
	case pending:
		return nil, ErrOutdated
	}
	enter := enterPlain
	if ok, err := callers.ready(ctx, c); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	} else if ok {
		enter = enterRole
	}
	readers, err := newPool(ctx, o.URL, o.MaxConns, true)
	if err != nil {
		return nil, err
	}
	return &engine{readers: shared(readers), log: o.Logger, enter: enter}, nil
}

// newPool connects at once, so that a mistake shows at opening.
func newPool(ctx context.Context, url string, conns int, readOnly bool) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, urlError()
	}
	c.MaxConns, c.MinConns = int32(conns), 0
	c.MaxConnIdleTime = 5 * time.Minute
	c.AfterConnect = registerVector
	settings(&c.ConnConfig.Config)
	if readOnly {
		c.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, connectError(err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, connectError(err)
	}
	return pool, nil
}

// settings configures every connection. The store's statements are short: compiling one (jit)
// costs more than running it. When a context ends, the statement is cancelled in the server
// and the connection stays open.
func settings(c *pgconn.Config) {
	c.RuntimeParams["timezone"] = "UTC"
	c.RuntimeParams["jit"] = "off"
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "p8"
	}
	c.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
	}
}

// engine implements store.Engine and store.Indexed.
type engine struct {
	// The pool of writers is nil where the database was opened for reading.
	readers, writers pool
	log              *slog.Logger
	health           health
	growth           growth
	// enter begins each caller's transaction: enterRole, or enterPlain if the role of
	// callers cannot be used.
	enter string
	// wrap is for tests: it wraps the connection of a caller's transaction.
	wrap func(store.Scope, store.Conn) store.Conn
}

// Dialect implements store.Engine.
func (e *engine) Dialect() store.Dialect { return store.DialectPostgres }

// Read implements store.Engine: ReadSystem, as the role of callers.
func (e *engine) Read(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return e.read(ctx, &sc, e.of(sc, fn))
}

// Write implements store.Engine: WriteSystem, as the role of callers.
func (e *engine) Write(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return e.write(ctx, &sc, e.of(sc, fn))
}

// of returns fn, with the connection that tests wrap for the scope.
func (e *engine) of(sc store.Scope, fn func(store.Conn) error) func(store.Conn) error {
	if e.wrap == nil {
		return fn
	}
	return func(c store.Conn) error { return fn(e.wrap(sc, c)) }
}

// ReadSystem runs fn on a reading connection. Each statement sees the commits before its
// start; statements that Later sends together see one state. If the connection breaks before
// the first row, fn runs again on another one.
func (e *engine) ReadSystem(ctx context.Context, fn func(store.Conn) error) error {
	return e.read(ctx, nil, fn)
}

func (e *engine) read(ctx context.Context, sc *store.Scope, fn func(store.Conn) error) error {
	for n := 1; ; n++ {
		c := &conn{scope: sc, enter: e.enter}
		err := using(ctx, e.readers, c, fn)
		if err == nil || n >= attempts || !c.broke || c.gave || wait(ctx, n) != nil {
			return unstorable(translate(ctx, err))
		}
	}
}

// attempts bounds how often a transaction that others aborted is run.
const attempts = 5

// WriteSystem runs fn in a transaction. It runs fn again if the database aborted the transaction in
// favour of another one, or if a row was missing; then each statement is sent at once, to
// find the reason.
func (e *engine) WriteSystem(ctx context.Context, fn func(store.Conn) error) error {
	return e.write(ctx, nil, fn)
}

func (e *engine) write(ctx context.Context, sc *store.Scope, fn func(store.Conn) error) error {
	if e.writers.Pool == nil {
		return ErrReadOnly
	}
	careful := false
	for n := 1; ; n++ {
		err := using(ctx, e.writers, &conn{writes: true, careful: careful, scope: sc, enter: e.enter}, fn)
		if errors.Is(err, errMissing) {
			careful = true
			continue
		}
		if err == nil || n >= attempts || !retryable(err) || wait(ctx, n) != nil {
			return e.health.note(unstorable(translate(ctx, err)))
		}
	}
}

// using runs fn with a connection of a pool, to the end of its transaction.
func using(ctx context.Context, pool pool, c *conn, fn func(store.Conn) error) error {
	p, release, err := pool.take(ctx)
	if err != nil {
		return err
	}
	c.c = p.Conn()
	defer func() {
		c.broke = c.c.IsClosed()
		release()
	}()
	if err = fn(c); err == nil && c.writes {
		err = ctx.Err()
	}
	if err == nil {
		err = c.finish(ctx)
	}
	if !c.open() {
		return err
	}
	// The caller's context may have ended; the rollback must still arrive, or the
	// connection is given up.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, e := c.c.Exec(end, `ROLLBACK`); e != nil && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("roll back: %w", e))
	}
	return err
}

// Close waits for the connections in use; later calls fail.
func (e *engine) Close() error {
	e.readers.Close()
	if e.writers.Pool != nil {
		e.writers.Close()
	}
	return nil
}
