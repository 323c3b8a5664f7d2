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

	"github.com/p8-org/p8/store"
)

// SQLSTATE codes (PostgreSQL manual, appendix A).
const (
	codeUniqueViolation       = "23505"
	codeSerializationFailure  = "40001"
	codeDeadlock              = "40P01"
	codeQueryCanceled         = "57014"
	codeNoDatabase            = "3D000"
	codeNoAuthorization       = "28000"
	codeWrongPassword         = "28P01"
	codeTooManyConnections    = "53300"
	codeUndefinedTable        = "42P01"
	codeInsufficientPrivilege = "42501"
	codeDivisionByZero        = "22012"
	codeDiskFull              = "53100"
	codeIOError               = "58030"

	// Classes: data exceptions, exceeded limits of the program.
	classData  = "22"
	classLimit = "54"
)

// code returns the SQLSTATE of an error, "" if it has none.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// translate maps PostgreSQL's errors to the store's.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	switch c := code(err); {
	case c == codeUniqueViolation:
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	case c == codeInsufficientPrivilege && refusedRow(err):
		// The statement would write a row of another caller, such as one with the same id.
		return fmt.Errorf("the row to write: %w", store.ErrNotFound)
	case ctx.Err() != nil && (c == "" || c == codeQueryCanceled) && known(err) == nil:
		return ctx.Err()
	}
	reason := unavailable(err)
	if e := (*pgconn.ConnectError)(nil); errors.As(err, &e) {
		err = connectError(err)
	}
	if reason == reasonFull || reason == reasonIO {
		err = fmt.Errorf("%w: %w", store.ErrDisk, err)
	}
	if reason != "" && ctx.Err() == nil {
		return &store.UnavailableError{Reason: reason, Err: err}
	}
	return err
}

// refusedRow reports whether a policy, and not a missing right, refused a statement. The
// message may be in any language.
func refusedRow(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Routine == "ExecWithCheckOptions"
}

// unstorable maps the errors of values that PostgreSQL cannot hold to ErrInvalid: a
// number beyond every type, JSON with \u0000, a key too long for an index.
func unstorable(err error) error {
	if c := code(err); strings.HasPrefix(c, classData) || strings.HasPrefix(c, classLimit) {
		return fmt.Errorf("%w: a value is too large, or has a part that PostgreSQL cannot store", store.ErrInvalid)
	}
	return err
}

// known returns the meaning that the store itself gave an error.
func known(err error) error {
	for _, k := range []error{store.ErrNotFound, store.ErrConflict, store.ErrInvalid} {
		if errors.Is(err, k) {
			return k
		}
	}
	return nil
}

// retryable reports whether the database aborted a transaction in favour of another one, or
// never received it.
func retryable(err error) bool {
	switch code(err) {
	case codeSerializationFailure, codeDeadlock:
		return true
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// wait pauses for a random time before a transaction's next attempt, so that transactions
// that collided do not collide again.
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

// connectionError returns the reason for a failed connection and a remedy. It does not
// wrap pgx's error, which holds the configuration and so the password.
type connectionError struct{ problem, mend string }

func (e *connectionError) Error() string { return "postgres: " + e.problem + ": " + e.mend }

// urlError hides the text that could not be read: it may hold a password.
func urlError() error {
	return &connectionError{"the database URL cannot be read", "write it like postgres://user:password@host:5432/database?sslmode=require, " +
		"special characters of the user and the password percent-encoded"}
}

// connectError returns the connectionError of pgx's error.
func connectError(err error) error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			return fmt.Errorf("postgres: connect: %w", ended)
		}
	}
	var server *pgconn.PgError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &server):
		return refused(server)
	case errors.As(err, &dns):
		return &connectionError{fmt.Sprintf("there is no host %q", dns.Name), "check the host of the database URL"}
	case errors.As(err, &op):
		return &connectionError{"the server is not reachable (" + op.Op + ": " + op.Err.Error() + ")",
			"check that it runs, and the host and port of the database URL"}
	case strings.Contains(err.Error(), "tls"), strings.Contains(err.Error(), "TLS"), strings.Contains(err.Error(), "x509"):
		return &connectionError{"the server and the database URL do not agree on TLS", "check sslmode and the certificates"}
	}
	return &connectionError{"the server is not reachable", "check that it runs, and the host and port of the database URL"}
}

func refused(e *pgconn.PgError) error {
	mend := "see the server's log"
	switch e.Code {
	case codeWrongPassword, codeNoAuthorization:
		mend = "check the user and the password of the database URL, and the server's pg_hba.conf"
	case codeNoDatabase:
		mend = "create it, or name another one in the database URL"
	case codeTooManyConnections:
		mend = "raise max_connections, or lower the connections of each replica"
	}
	return &connectionError{"the server refuses the connection (" + e.Message + ")", mend}
}
