package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
)

// health is the state of the file under a running engine.
type health struct {
	// file is the database as it was opened: held open, so that its number is not
	// given to another file.
	file *os.File
	info os.FileInfo
	// gone is the reason why writes would be lost, nil if they are safe. damaged is true after
	// a page could not be read.
	gone    atomic.Pointer[store.UnavailableError]
	damaged atomic.Bool
	// written is the time of the last successful write in nanoseconds; 0 after a write that
	// the disk refused, with the reason in failed.
	written atomic.Int64
	failed  atomic.Bool

	// mu guards reader, a connection for checks that has nothing in its cache.
	mu     sync.Mutex
	reader *conn
}

// The reasons that a client may read.
const (
	reasonGone     = "the database file is gone: somebody deleted or moved it under the running server"
	reasonReplaced = "the database file was replaced under the running server: restart it to use the new one"
	reasonLogGone  = "the database's write-ahead log is gone: somebody deleted it under the running server"
	reasonDamaged  = "the database file is damaged"
	reasonFull     = "the disk is full"
	reasonReadOnly = "the database is read-only"
	reasonIO       = "the disk cannot be read or written: it is full, or fails"
)

// writtenLately is how long a write proves that the database can be written.
const writtenLately = 5 * time.Second

// leastFree is the free space without which a turn may not be stored.
const leastFree = 1 << 20

func (h *health) open(path string) (err error) {
	if h.file, err = os.Open(path); err != nil {
		return fmt.Errorf("sqlite: open the database: %w", err)
	}
	h.info, err = h.file.Stat()
	return err
}

func (h *health) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.reader.close()
	if h.file != nil {
		err = errors.Join(err, h.file.Close())
	}
	return err
}

// present returns an error if the files at the database's path are not the open ones, or
// cannot be opened by the next process: writes would be lost.
func (e *engine) present() error {
	if e.readOnly || inMemory(e.path) {
		return nil
	}
	select {
	case <-e.closed: // closing removes the log
		return nil
	default:
	}
	var gone *store.UnavailableError
	if reason := e.missing(); reason != "" {
		gone = &store.UnavailableError{Reason: reason, Err: store.ErrDisk}
	}
	e.health.gone.Store(gone)
	if gone != nil {
		return gone
	}
	return nil
}

func (e *engine) missing() string {
	switch info, err := os.Stat(e.path); {
	case err != nil:
		return reasonGone
	case !os.SameFile(info, e.health.info):
		return reasonReplaced
	}
	if !e.durable.present() {
		return reasonLogGone
	}
	if !e.hasHeader() {
		return reasonDamaged
	}
	return ""
}

// Check implements store.Checker.
func (e *engine) Check(ctx context.Context) error {
	if e.readOnly || inMemory(e.path) {
		return nil
	}
	if err := e.present(); err != nil {
		return err
	}
	if err := e.readAnew(ctx); err != nil {
		return e.judge(ctx, err)
	}
	if e.health.damaged.Load() {
		return &store.UnavailableError{Reason: reasonDamaged}
	}
	if free, err := freeBytes(e.path); err == nil && free < leastFree {
		return &store.UnavailableError{Reason: reasonFull}
	}
	if last := e.health.written.Load(); time.Since(time.Unix(0, last)) < writtenLately {
		return nil
	}
	if e.health.failed.Load() {
		return e.writeMuch(ctx)
	}
	return e.writeAnew(ctx)
}

// hasHeader looks at the beginning of the file, which SQLite reads once and the
// next process needs.
func (e *engine) hasHeader() bool {
	var b [18]byte
	if _, err := e.health.file.ReadAt(b[:], 0); err != nil {
		return false
	}
	size := int(b[16])<<8 | int(b[17]) // of a page; 1 is 65536
	return bytes.HasPrefix(b[:], []byte("SQLite format 3\x00")) && (size == 1 || size >= 512 && size&(size-1) == 0)
}

// readAnew reads the first page of every table from the disk.
func (e *engine) readAnew(ctx context.Context) (err error) {
	e.health.mu.Lock()
	defer e.health.mu.Unlock()
	select {
	case <-e.closed:
		return errClosed
	default:
	}
	c := e.health.reader
	if c == nil {
		if c, err = connect(ctx, e.path, true); err != nil {
			return err
		}
		e.health.reader = c
	}
	if err := c.db.ReleaseMemory(); err != nil {
		return err
	}
	tables := []string{"sqlite_schema", "goose_db_version"}
	for _, t := range store.Tables() {
		tables = append(tables, t.Stored())
	}
	for _, t := range append(tables, "kv_store", "runs", "run_events", "leases") {
		if err := c.Query(ctx, `SELECT 1 FROM `+t+` LIMIT 1`, func(store.Row) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// writeAnew commits a transaction that changes nothing: it writes a page to the log.
func (e *engine) writeAnew(ctx context.Context) error {
	version := 0
	err := e.WriteSystem(ctx, func(c store.Conn) error {
		if err := c.Query(ctx, `PRAGMA user_version`, func(r store.Row) error { return r.Scan(&version) }); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `PRAGMA user_version = `+strconv.Itoa(version))
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) && e.health.written.Load() != 0 {
		return nil // another transaction is running, so writing works
	}
	return err
}

// writeMuch writes as much as a long turn, after a write failed: a full disk may have room
// for a single page and not for a turn. It rolls back.
func (e *engine) writeMuch(ctx context.Context) error {
	const name = "p8 ready"
	if err := e.write(ctx, func(c store.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO leases (tenant_id, user_id, name, owner, expires_at) VALUES ('_', '', $1, $2, $3)
			ON CONFLICT (tenant_id, user_id, name) DO UPDATE SET owner = excluded.owner`, name, strings.Repeat("x", 256<<10), time.Now())
		return err
	}); err != nil {
		return err
	}
	return e.WriteSystem(ctx, func(c store.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM leases WHERE tenant_id = '_' AND user_id = '' AND name = $1`, name)
		return err
	})
}

// judge maps an error of the database to the store's, and records damage.
func (e *engine) judge(ctx context.Context, err error) error {
	err = translate(ctx, err)
	u := (*store.UnavailableError)(nil)
	if !errors.As(err, &u) {
		return err
	}
	switch u.Reason {
	case reasonDamaged:
		e.health.damaged.Store(true)
	case reasonIO:
		if gone := e.present(); gone != nil {
			return gone
		}
		// The driver loses the system's error.
		if free, failed := freeBytes(e.path); failed == nil && free < leastFree {
			return &store.UnavailableError{Reason: reasonFull, Err: u.Err}
		}
	}
	return err
}

// Reason says in plain words why a database could not be opened, "" for an unknown reason.
func Reason(err error) string { return unavailable(err) }

// unavailable returns the reason for which SQLite cannot do anything now, "" for
// another error.
func unavailable(err error) string {
	switch {
	case errors.Is(err, sqlite3.FULL), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return reasonFull
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.IOERR_SHORT_READ):
		return reasonDamaged
	case errors.Is(err, sqlite3.READONLY_DBMOVED):
		return reasonGone
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, syscall.EROFS):
		return reasonReadOnly
	case errors.Is(err, sqlite3.IOERR), errors.Is(err, sqlite3.CANTOPEN), errors.Is(err, store.ErrDisk):
		return reasonIO
	}
	return ""
}
