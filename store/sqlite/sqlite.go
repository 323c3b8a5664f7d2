// Package sqlite is p8's embedded engine: one file, nothing to install.
//
//	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
//
// One connection writes, in BEGIN IMMEDIATE transactions, one after the other;
// a few others read, each from the last committed state (write-ahead log), so
// that neither waits for the other and nothing is ever "locked". A commit is
// on the disk when Write returns: those that come at one time wait for it
// together, while the next ones write. A lock on a file beside the database keeps a
// second process away, with one clear error.
//
// SQLite is ncruces/go-sqlite3, which needs no C compiler, used without
// database/sql: statements are prepared once a connection and values are
// neither boxed nor parsed on their way. The schema is brought up to date at
// opening; see migrations/.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"p8/store"
)

// Options say where the database is. One of Dir and Path is required.
type Options struct {
	// Dir is the data folder; it is created, for its owner only. The database in
	// it is p8.db.
	Dir string
	// Path is the database file, instead of p8.db in Dir.
	Path string
	// Readers is the number of reading connections; they are opened when needed.
	// 0 is the number of processors, 2 at least and 8 at most.
	Readers int
	// ReadOnly opens a database that is there, beside the process that writes
	// it: without the lock, creating and migrating nothing. Open fails with
	// [ErrMissing] or [ErrOutdated], every write with [ErrReadOnly].
	ReadOnly bool
	// Logger hears of migrations; nil is slog.Default().
	Logger *slog.Logger
	// Reserved are those of store.Options.
	Reserved []string
}

var (
	// ErrInUse says that another process has the database open.
	ErrInUse = errors.New("the database is in use by another process")
	// ErrMissing says that there is no database to read.
	ErrMissing = errors.New("there is no database")
	// ErrOutdated says that the database must be migrated before it is read.
	ErrOutdated = errors.New("the database is of an older version, or not finished: open it for writing first")
	// ErrReadOnly says that the database was opened for reading.
	ErrReadOnly = errors.New("the database is open for reading only")
)

// Open opens the database, creating and migrating it as needed. The context
// bounds the opening only.
func Open(ctx context.Context, o Options) (*store.Store, error) {
	e, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	return store.NewWith(e, store.Options{Reserved: o.Reserved}), nil
}

func open(ctx context.Context, o Options) (_ *engine, err error) {
	if o.Path == "" {
		if o.Dir == "" {
			return nil, errors.New("sqlite: neither Dir nor Path is given")
		}
		o.Path = filepath.Join(o.Dir, "p8.db")
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Readers <= 0 {
		o.Readers = min(8, max(2, runtime.GOMAXPROCS(0)))
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	if o.ReadOnly {
		return openReadOnly(ctx, path, o.Readers)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("sqlite: create the data folder: %w", err)
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.Close()
		}
	}()
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	if err := migrate(ctx, path, o.Logger); err != nil {
		return nil, err
	}
	w, err := connect(ctx, path, false)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	e := newEngine(path, o.Readers)
	e.lock = lock
	e.writer <- w
	return e, nil
}

// openReadOnly opens what another process may be writing.
func openReadOnly(ctx context.Context, path string, readers int) (*engine, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	c, err := connect(ctx, path, true)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	if err := current(ctx, c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	e := newEngine(path, readers)
	e.readOnly = true
	e.writer <- nil
	<-e.readers
	e.readers <- c
	return e, nil
}

// newEngine has no connection yet.
func newEngine(path string, readers int) *engine {
	e := &engine{
		path:    path,
		writer:  make(chan *conn, 1),
		readers: make(chan *conn, readers),
		closed:  make(chan struct{}),

		selectors: make(chan *selector, maxSelectors),
		durable:   durable{path: path + "-wal"},
	}
	for range maxSelectors {
		e.selectors <- nil
	}
	e.close = sync.OnceValue(e.shut)
	for range readers {
		e.readers <- nil
	}
	return e
}

// createPrivate makes the file before SQLite does, readable by its owner only;
// SQLite gives the log beside it the same permissions.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("sqlite: create the database: %w", err)
	}
	return f.Close()
}

// engine implements store.Engine.
type engine struct {
	path string
	// readOnly: there is no writing connection and no lock.
	readOnly bool
	lock     *os.File
	// writer holds the writing connection when nobody uses it; readers holds one
	// entry for each reading connection, nil for one not opened yet.
	writer, readers chan *conn
	// selectors is the same for the connections of Select.
	selectors chan *selector
	durable   durable
	// closed ends the waiting for a connection.
	closed chan struct{}
	close  func() error
}

var errClosed = errors.New("sqlite: the database is closed")

func (e *engine) take(ctx context.Context, pool chan *conn) (*conn, error) {
	select {
	case <-e.closed:
		return nil, errClosed
	default:
	}
	select {
	case c := <-pool:
		return c, nil
	case <-e.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Read runs fn on a reading connection.
func (e *engine) Read(ctx context.Context, fn func(store.Conn) error) error {
	c, err := e.take(ctx, e.readers)
	if err != nil {
		return err
	}
	defer func() { e.readers <- c }()
	if c == nil {
		if c, err = connect(ctx, e.path, true); err != nil {
			return err
		}
	}
	err = fn(c)
	return translate(ctx, errors.Join(err, c.rollback()))
}

// Write runs fn in a transaction of the writing connection, and waits until it is
// on the disk, when others may write already.
func (e *engine) Write(ctx context.Context, fn func(store.Conn) error) error {
	if e.readOnly {
		return ErrReadOnly
	}
	if err := e.transact(ctx, fn); err != nil {
		return onDisk(err)
	}
	if err := e.durable.wait(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrDisk, err)
	}
	return nil
}

func (e *engine) transact(ctx context.Context, fn func(store.Conn) error) (err error) {
	c, err := e.take(ctx, e.writer)
	if err != nil {
		return err
	}
	defer func() { e.writer <- c }()
	if err := c.begin(); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			err = errors.Join(err, c.rollback())
		}
	}()
	if err := fn(c); err != nil {
		return translate(ctx, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.commit(); err != nil {
		return err
	}
	committed = true
	return nil
}

// Dialect implements store.Engine.
func (e *engine) Dialect() store.Dialect { return store.DialectSQLite }

// Close waits for every connection to come back; what comes later fails.
func (e *engine) Close() error { return e.close() }

func (e *engine) shut() error {
	close(e.closed)
	var errs []error
	for range cap(e.readers) {
		errs = append(errs, (<-e.readers).close())
	}
	for range maxSelectors {
		(<-e.selectors).close()
	}
	// The writer last: who closes last empties the log into the database.
	w := <-e.writer
	errs = append(errs, e.durable.close(), w.close())
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}

// translate gives SQLite's errors the meanings that the store knows.
func translate(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.INTERRUPT) && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sqlite3.CONSTRAINT_UNIQUE), errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY):
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	}
	return err
}

// onDisk marks an error of the file system with what it means.
func onDisk(err error) error {
	for _, code := range []sqlite3.ErrorCode{
		sqlite3.FULL, sqlite3.IOERR, sqlite3.READONLY, sqlite3.CANTOPEN, sqlite3.CORRUPT, sqlite3.NOTADB,
	} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w: %w", store.ErrDisk, err)
		}
	}
	return err
}
