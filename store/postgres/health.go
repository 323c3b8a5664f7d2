package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/p8-org/p8/store"
	p8migrate "github.com/p8-org/p8/store/internal/migrate"
)

// The reasons that a client may read.
const (
	reasonUnreachable = "the database server cannot be reached"
	reasonRefused     = "the database server refuses connections"
	reasonReadOnly    = "the database is read-only, as on a standby server"
	reasonFull        = "the disk of the database server is full"
	reasonIO          = "the disk of the database server fails"
	reasonMigrations  = "the database lacks migrations of this version of p8: restart the server, or run p8 migrate"
	reasonDamaged     = "the database is damaged"
)

// SQLSTATE codes and classes of a database that cannot be used now.
const (
	codeReadOnly       = "25006"
	classConnection    = "08"
	classIntervention  = "57P"
	classDamage        = "XX00"
	codeInternalDamage = "XX000"
)

// health is the state of the database under a running engine.
type health struct {
	// failed is true if the last write failed because the database could not be used.
	failed atomic.Bool
}

// note records how a write ended.
func (h *health) note(err error) error {
	if err == nil || errors.Is(err, store.ErrUnavailable) {
		h.failed.Store(err != nil)
	}
	return err
}

// Check implements store.Checker: one round trip, and another one to write when
// the last write failed.
func (e *engine) Check(ctx context.Context) error {
	if e.writers.Pool == nil {
		return nil
	}
	c, release, err := e.writers.take(ctx)
	if err != nil {
		return translate(ctx, err)
	}
	var readOnly bool
	var version int64
	err = c.QueryRow(ctx, `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
		(SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied)`).Scan(&readOnly, &version)
	release()
	switch {
	case code(err) == codeUndefinedTable:
		return &store.UnavailableError{Reason: reasonMigrations, Err: err}
	case err != nil:
		return translate(ctx, err)
	case readOnly:
		return &store.UnavailableError{Reason: reasonReadOnly}
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	if pending, err := p8migrate.Pending(files, version); err != nil || pending {
		return &store.UnavailableError{Reason: reasonMigrations, Err: err}
	}
	if e.health.failed.Load() {
		return e.writeAnew(ctx)
	}
	return nil
}

// writeAnew writes a row whose only purpose is to test writing.
func (e *engine) writeAnew(ctx context.Context) error {
	return e.WriteSystem(ctx, func(c store.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO leases (tenant_id, user_id, name, owner, expires_at) VALUES ('_', '', 'p8 ready', 'p8', $1)
			ON CONFLICT (tenant_id, user_id, name) DO UPDATE SET expires_at = excluded.expires_at`, time.Now())
		return err
	})
}

// unavailable returns the reason for which the database cannot be used now, "" for
// another error.
func unavailable(err error) string {
	var connect *pgconn.ConnectError
	var network net.Error
	c := code(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "" // a net.Error, too
	case c == codeReadOnly:
		return reasonReadOnly
	case c == codeDiskFull:
		return reasonFull
	case c == codeIOError:
		return reasonIO
	case strings.HasPrefix(c, classDamage) && c != codeInternalDamage:
		return reasonDamaged
	case errors.As(err, &connect) && c != "":
		return reasonRefused
	case strings.HasPrefix(c, classConnection), strings.HasPrefix(c, classIntervention):
		return reasonUnreachable
	case c != "":
		return ""
	case errors.As(err, &connect), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return reasonUnreachable
	}
	return ""
}
