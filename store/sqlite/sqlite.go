// Package sqlite is p8's embedded engine: one file, nothing to install.
//
//	s, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
//
// One connection writes, in BEGIN IMMEDIATE transactions, one after the other; a few others
// read, each from the last committed state (write-ahead log), so that neither waits for the
// other and nothing is ever "locked". A commit is on the disk when Write returns:
// concurrent commits wait for one flush together, while later transactions write. A lock on
// a file beside the database makes Open fail in a second process, unless that only reads.
//
// SQLite is ncruces/go-sqlite3, which needs no C compiler, used without database/sql:
// statements are prepared once per connection, and values are neither boxed nor parsed on
// their way. The schema is brought up to date at opening; see migrations/.
//
// A goroutine moves the write-ahead log into the database, begins the log again between two
// writes, and truncates it when it is long or nobody writes. A read that holds the log for
// too long is stopped; a SELECT is run again. Every write checks that the file is still
// there: writing to a deleted, replaced or damaged database fails with a
// store.UnavailableError.
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
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs/mvcc"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/fair"
)

// Options name the database and configure the engine. One of Dir, Path and Memory is
// required.
type Options struct {
	// Dir is the data folder; it is created, for its owner only. The database in
	// it is p8.db.
	Dir string
	// Path is the database file, instead of p8.db in Dir.
	Path string
	// Memory keeps the database in memory, as long as it is open: for tests, and for chats
	// that are not stored. Dir, Path and ReadOnly are ignored.
	Memory bool
	// Readers is the number of reading connections; they are opened when needed.
	// Callers' queries take half of them at most. 0 is twice the number of
	// processors, 4 at least and 16 at most.
	Readers int
	// ReadOnly opens an existing database, even while another process writes it: without the
	// lock, and without creating or migrating anything. Open fails with [ErrMissing] or
	// [ErrOutdated], every write with [ErrReadOnly].
	ReadOnly bool
	// Logger receives migrations; nil is slog.Default().
	Logger *slog.Logger
	// Reserved is store.Options.Reserved.
	Reserved []string
	// Replaces and Now are those of store.Options.
	Replaces func(before, after *store.Schema) error
	Now      func() time.Time
	// Encryption is that of store.Options.
	Encryption store.Encryption

	// log bounds the write-ahead log; the zero value is the default.
	log logBounds
	// from is the initial content of a database in memory.
	from mvcc.Snapshot
}

var (
	// ErrInUse: another process has the database open.
	ErrInUse = errors.New("the database is in use by another process")
	// ErrMissing: there is no database to read.
	ErrMissing = errors.New("there is no database")
	// ErrOutdated: the database must be migrated before it is read.
	ErrOutdated = errors.New("the database is of an older version, or not finished: open it for writing first")
	// ErrReadOnly: the database was opened for reading.
	ErrReadOnly = errors.New("the database is open for reading only")
)

// Open opens the database, creating and migrating it as needed. The context
// bounds the opening only.
func Open(ctx context.Context, o Options) (*store.Store, error) {
	e, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, e, store.Options{Reserved: o.Reserved, Replaces: o.Replaces, Now: o.Now, Encryption: o.Encryption})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func open(ctx context.Context, o Options) (_ *engine, err error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Readers <= 0 {
		o.Readers = 2 * min(8, max(2, runtime.GOMAXPROCS(0)))
	}
	if o.Memory {
		return openMemory(ctx, o)
	}
	if o.Path == "" {
		if o.Dir == "" {
			return nil, errors.New("sqlite: neither Dir nor Path is given")
		}
		o.Path = filepath.Join(o.Dir, "p8.db")
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
	if err := private(path); err != nil {
		return nil, err
	}
	if err := migrate(ctx, path, o.Logger); err != nil {
		return nil, err
	}
	if err := private(path); err != nil { // closing the last connection removed some files
		return nil, err
	}
	w, err := connect(ctx, path, false)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	e := newEngine(path, o.Readers)
	e.lock = lock
	e.writer <- w
	if err := e.health.open(path); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := e.log.start(ctx, e, w, o); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// openMemory opens a new database in memory.
func openMemory(ctx context.Context, o Options) (_ *engine, err error) {
	path := newMemory(o.from)
	defer func() {
		if err != nil {
			dropMemory(path)
		}
	}()
	if err := migrate(ctx, path, o.Logger); err != nil {
		return nil, err
	}
	w, err := connect(ctx, path, false)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open a database in memory: %w", err)
	}
	e := newEngine(path, o.Readers)
	e.durable.path = "" // there is no disk to wait for
	e.writer <- w
	return e, nil
}

// openReadOnly opens a database that another process may be writing.
func openReadOnly(ctx context.Context, path string, readers int) (*engine, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	_ = private(path) // fails if the folder is read-only
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

// newEngine returns an engine without connections.
func newEngine(path string, readers int) *engine {
	e := &engine{
		path:    path,
		writer:  make(chan *conn, 1),
		readers: make(chan *conn, readers),
		reading: fair.NewTurns(readers),
		writing: fair.NewTurns(1),
		closed:  make(chan struct{}),
		durable: durable{path: path + "-wal"},
	}
	_, most := e.Queries()
	e.selectors = make(chan *selector, most)
	for range most {
		e.selectors <- nil
	}
	e.close = sync.OnceValue(e.shut)
	for range readers {
		e.readers <- nil
	}
	return e
}

// engine implements store.Engine.
type engine struct {
	path string
	// readOnly: there is no writing connection and no lock.
	readOnly bool
	lock     *os.File
	// writer holds the writing connection while it is free; readers holds one entry for each
	// reading connection, nil for one not opened yet.
	writer, readers chan *conn
	// reading and writing decide whose turn it is to take one.
	reading, writing *fair.Turns
	// selectors is like readers, for the connections of Select.
	selectors chan *selector
	durable   durable
	log       checkpointer
	health    health
	// closed is closed by Close, to end every wait for a connection.
	closed chan struct{}
	close  func() error
	// wrap is for tests: it wraps the connection of a caller's transaction.
	wrap func(store.Scope, store.Conn) store.Conn
}

var errClosed = errors.New("sqlite: the database is closed")

// Read implements store.Engine. SQLite has no second wall for the store's statements: tests
// check that each names its tenant.
func (e *engine) Read(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return e.ReadSystem(ctx, e.of(sc, fn))
}

// Write implements store.Engine, like Read.
func (e *engine) Write(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return e.WriteSystem(ctx, e.of(sc, fn))
}

// of returns fn, with the connection that tests wrap for the scope.
func (e *engine) of(sc store.Scope, fn func(store.Conn) error) func(store.Conn) error {
	if e.wrap == nil {
		return fn
	}
	return func(c store.Conn) error { return fn(e.wrap(sc, c)) }
}

// ReadSystem runs fn on a reading connection.
func (e *engine) ReadSystem(ctx context.Context, fn func(store.Conn) error) error {
	if gone := e.health.gone.Load(); gone != nil {
		return gone
	}
	c, err := e.take(ctx, e.reading, e.readers)
	if err != nil {
		return err
	}
	defer func() { give(e.reading, e.readers, c) }()
	if c == nil {
		if err := e.present(); err != nil {
			return err
		}
		if c, err = connect(ctx, e.path, true); err != nil {
			return e.judge(ctx, err)
		}
		e.log.watch(c)
	}
	return e.judge(ctx, c.read(fn))
}

// WriteSystem runs fn in a transaction of the writing connection, and waits until the transaction
// is on the disk; meanwhile others may write. It fails if the file was deleted or replaced,
// because a later process would not find the data.
func (e *engine) WriteSystem(ctx context.Context, fn func(store.Conn) error) error {
	if e.readOnly {
		return ErrReadOnly
	}
	err := e.write(ctx, fn)
	switch {
	case err == nil:
		e.health.written.Store(time.Now().UnixNano())
		e.health.failed.Store(false)
	case errors.Is(err, store.ErrUnavailable):
		e.health.written.Store(0)
		e.health.failed.Store(true)
	}
	return err
}

func (e *engine) write(ctx context.Context, fn func(store.Conn) error) error {
	if e.health.gone.Load() != nil {
		if err := e.present(); err != nil { // the file may be back
			return err
		}
	}
	err := e.transact(ctx, fn)
	if err == nil {
		if err = e.durable.wait(); err == nil {
			err = e.present()
		} else {
			err = fmt.Errorf("%w: %w", store.ErrDisk, err)
		}
	}
	return e.judge(ctx, err)
}

func (e *engine) transact(ctx context.Context, fn func(store.Conn) error) (err error) {
	c, err := e.take(ctx, e.writing, e.writer)
	if err != nil {
		return err
	}
	defer func() { give(e.writing, e.writer, c) }()
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
		return err
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

// Close waits for the connections in use; later calls fail.
func (e *engine) Close() error { return e.close() }

func (e *engine) shut() error {
	close(e.closed)
	e.reading.Close()
	e.writing.Close()
	errs := []error{e.log.stop(), e.health.close()}
	for range cap(e.readers) {
		errs = append(errs, (<-e.readers).close())
	}
	for range cap(e.selectors) {
		(<-e.selectors).close()
	}
	// The writer last: SQLite copies the log into the database with the last connection.
	w := <-e.writer
	errs = append(errs, e.durable.close(), w.close())
	if inMemory(e.path) {
		dropMemory(e.path)
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}

// translate maps SQLite's errors to the store's.
func translate(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sqlite3.INTERRUPT) && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sqlite3.CONSTRAINT_UNIQUE), errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY):
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	}
	if errors.Is(err, store.ErrUnavailable) {
		return err
	}
	if reason := unavailable(err); reason != "" {
		return &store.UnavailableError{Reason: reason, Err: fmt.Errorf("%w: %w", store.ErrDisk, err)}
	}
	return err
}
