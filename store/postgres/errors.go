package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"p8/store"
)

// SQLSTATE codes (PostgreSQL manual, appendix A).
const (
	codeUniqueViolation      = "23505"
	codeSerializationFailure = "40001"
	codeDeadlock             = "40P01"
	codeQueryCanceled        = "57014"
	codeNoPrivilege          = "42501"
	codeNoDatabase           = "3D000"
	codeNoAuthorization      = "28000"
	codeWrongPassword        = "28P01"
	codeTooManyConnections   = "53300"
	codeNoExtensionFile      = "0A000"
	codeUndefinedFile        = "58P01"
	codeUndefinedTable       = "42P01"
)

// code is the SQLSTATE of an error, "" if it has none.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// translate gives PostgreSQL's errors the meanings that the store knows.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if c := code(err); c == codeUniqueViolation {
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	} else if ended := ctx.Err(); ended != nil && (c == "" || c == codeQueryCanceled) && known(err) == nil {
		return ended
	}
	if e := (*pgconn.ConnectError)(nil); errors.As(err, &e) {
		return connectError(err)
	}
	return err
}

// known is the meaning that the store itself gave an error.
func known(err error) error {
	for _, k := range []error{store.ErrNotFound, store.ErrConflict, store.ErrInvalid} {
		if errors.Is(err, k) {
			return k
		}
	}
	return nil
}

// retryable reports whether the database gave a transaction up for another one,
// or never saw it.
func retryable(err error) bool {
	switch code(err) {
	case codeSerializationFailure, codeDeadlock:
		return true
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// wait pauses before a transaction's next attempt, so that those that met do
// not meet again.
func wait(ctx context.Context, n int) error {
	t := time.NewTimer(rand.N(10 * time.Millisecond << n))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// urlError hides the text that could not be read: it may hold a password.
func urlError(error) error {
	return errors.New("postgres: the database URL cannot be read: " +
		"it is like postgres://user:password@host:5432/database?sslmode=require, with special characters of user and password percent-encoded")
}

// connectError says why there is no connection, without the configuration that
// pgx keeps in its error.
func connectError(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("postgres: connect: %w", context.Canceled)
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		mend := ""
		switch server.Code {
		case codeWrongPassword, codeNoAuthorization:
			mend = ": check the user and the password of the database URL, and the server's pg_hba.conf"
		case codeNoDatabase:
			mend = ": create it (createdb), or name another one in the database URL"
		case codeTooManyConnections:
			mend = ": raise max_connections, or lower the connections of each replica"
		}
		return fmt.Errorf("postgres: the server refuses the connection: %s%s", server.Message, mend)
	}
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("postgres: the server is not reachable: no such host %q: check the host of the database URL", dns.Name)
	case errors.As(err, &op):
		return fmt.Errorf("postgres: the server is not reachable: %s: check that it runs, and the host and port of the database URL", reason(op))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("postgres: connect: %w", context.DeadlineExceeded)
	case strings.Contains(err.Error(), "tls"), strings.Contains(err.Error(), "SSL"), strings.Contains(err.Error(), "x509"):
		return errors.New("postgres: the server and the database URL do not agree on TLS: check sslmode and the certificates")
	}
	return errors.New("postgres: the server is not reachable: check that it runs, and the host and port of the database URL")
}

// reason is a network error without its address, which is part of the URL.
func reason(op *net.OpError) string { return op.Op + ": " + op.Err.Error() }
