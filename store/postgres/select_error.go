package postgres

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

// problem distinguishes a mistake of the caller from a failure of the database.
func (s *selection) problem(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) || len(e.Code) != 5 {
		return err
	}
	switch {
	case strings.Contains(e.Message, readerRole):
		return &store.SelectError{Problem: "SQL is not available: the database has no role for it; p8 doctor says how to make it"}
	case e.Code == codeQueryCanceled:
		return err
	case !slices.Contains(callersFault, e.Code[:2]) && e.Code != codeOutOfMemory && e.Code != codeLimitExceeded:
		return err
	}
	position := 0
	if e.Position > 0 {
		for _, prefix := range []string{explainJSON, explainText} {
			if s.bounds.Explain == (prefix == explainText) {
				position = s.text.Position(offset(s.text.SQL, int(e.Position)-1-len(prefix)))
			}
		}
	}
	words := e.Message
	if e.Hint != "" {
		words += " (" + e.Hint + ")"
	}
	return &store.SelectError{Position: position, Problem: "the database does not run this: " + words}
}

// callersFault are the classes of errors that the text of a statement makes: a
// cardinality, a value, a name, a limit, something that is not supported.
var callersFault = []string{"21", "22", "42", "54", "0A"}

const (
	codeOutOfMemory   = "53200"
	codeLimitExceeded = "53400"
)

// offset returns the offset in bytes of the nth character.
func offset(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// mistake returns a gate's error as the store's.
func mistake(err error) error {
	var e *sqlgate.Error
	if errors.As(err, &e) {
		return &store.SelectError{Position: e.Position, Problem: e.Problem}
	}
	return err
}
