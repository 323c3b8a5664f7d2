// Package sqlgate parses the SELECT that a caller or a model wrote, checks every name
// and type in it, and prints it again for an engine:
//
//	q, err := sqlgate.Check(text, tables)
//	pg, err := q.Postgres()
//	lite, err := q.SQLite(sqlgate.Lite{Relation: …, Now: …})
//
// GRAMMAR.md has the grammar on one page: PostgreSQL's SELECT without the parts that
// no query of a knowledge base needs. testdata has accepted statements with what each
// database gets, and refused ones with the reason.
//
// A database gets what is printed from the parsed tree, never the caller's text, so
// nothing passes that the parser did not understand. A statement is one SELECT or WITH.
// Each of its relations is a listed table, a CTE or a derived table; its functions,
// types and operators are on lists; its columns exist. So no statement writes, names a
// catalog, another schema or a system column, or has parameters.
//
// The stages, each in files of its name: lex.go (text → tokens), parse_*.go (tokens →
// the tree of ast.go), resolve_*.go (what each name means, and the type of each
// expression), print_*.go (the tree → SQL of a dialect), result.go (the rows).
//
// The types make SQLite's results equal PostgreSQL's: casts round, times compare as
// times, NULL sorts last, and a column has the same name and type on both.
//
// The gate is not the only protection: PostgreSQL runs the printed statement as a role, and
// SQLite under an authorizer, that may do nothing else.
package sqlgate

import (
	"fmt"
	"unicode/utf8"
)

const (
	// MaxLength bounds a statement, in bytes.
	MaxLength = 8192
	// MaxPrinted bounds the printed statement, in bytes: an ORDER BY may repeat a long
	// expression many times.
	MaxPrinted = 256 << 10
	// maxDepth bounds how deep expressions and queries nest.
	maxDepth = 50
	// maxRelations bounds the relations of a statement: each may multiply the
	// work, and planners try their orders.
	maxRelations = 16
)

// Type is the type of a value.
type Type int

// The types. Unknown is a literal in quotes or NULL, which takes the type of its
// surroundings. Any is a value whose type the gate does not know. Whole is the type of a
// sum: it has no fraction, but dividing it may give one.
const (
	Unknown Type = iota
	Any
	Text
	Integer
	Whole
	Number
	Boolean
	Timestamp
	Date
	Interval
	JSON
	Array
)

var typeNames = [...]string{"unknown", "a value", "text", "integer", "whole number", "number", "boolean", "timestamp", "date", "interval", "json", "array"}

func (t Type) String() string { return typeNames[t] }

// Table is a relation that may be read.
type Table struct {
	Name    string
	Columns []Column
}

// Column is a column of a table or of a result.
type Column struct {
	Name string
	Type Type
	// weight is the size of the expression that computes it.
	weight int
}

// TypeOf returns the type of a name as the table registry writes it: text, integer,
// number, boolean, timestamp, json.
func TypeOf(name string) Type {
	for i, n := range typeNames {
		if n == name && Type(i) >= Text {
			return Type(i)
		}
	}
	return Any
}

// Error is a mistake in a statement, worded for a model.
type Error struct {
	// Position is the place in the text, in characters from 1; 0 is unknown.
	Position int
	Problem  string
}

func (e *Error) Error() string { return e.Problem }

// Query is a checked statement.
type Query struct {
	text    string
	root    *query
	columns []Column
	ctes    map[string]bool
}

// IsCTE reports whether a name in the printed statement is that of a WITH query.
func (q *Query) IsCTE(name string) bool { return q.ctes[name] }

// Columns returns the columns of the result.
func (q *Query) Columns() []Column { return q.columns }

// Check parses and checks a statement. The error is a *Error.
func Check(text string, tables []Table) (*Query, error) {
	if len(text) > MaxLength {
		return nil, &Error{Problem: fmt.Sprintf("the statement has %d bytes; at most %d are read: ask for less at once", len(text), MaxLength)}
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err.in(text)
	}
	p := &parser{tokens: tokens}
	root, err := p.statement()
	if err != nil {
		return nil, err.in(text)
	}
	r := &resolver{tables: make(map[string]Table, len(tables)), aliases: make(map[string]int), ctes: make(map[string]bool)}
	for _, t := range tables {
		r.tables[t.Name] = t
		r.names = append(r.names, t.Name)
	}
	if err := r.query(root, nil); err != nil {
		return nil, err.in(text)
	}
	return &Query{text: text, root: root, columns: root.outputs, ctes: r.ctes}, nil
}

// fault is an error at an offset in bytes.
type fault struct {
	at      int
	problem string
}

func faultf(at int, format string, args ...any) *fault {
	return &fault{at, fmt.Sprintf(format, args...)}
}

func (f *fault) in(text string) *Error {
	return &Error{Position: position(text, f.at), Problem: f.problem}
}

// position returns an offset in bytes as a place in characters from 1.
func position(text string, at int) int {
	return utf8.RuneCountInString(text[:min(at, len(text))]) + 1
}
