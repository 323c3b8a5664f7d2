package storetest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// A Scoper checks the statements that the store issues for a caller: each must compare the
// column tenant_id of every table that has one with the caller's tenant, or with the system's,
// whose shared rows every caller reads.
type Scoper struct {
	tables map[string]bool
	// parsed holds a scopedText for each text.
	parsed sync.Map
}

// NewScoper returns a Scoper for the tables that have the column tenant_id.
func NewScoper(tables []string) *Scoper {
	s := &Scoper{tables: make(map[string]bool)}
	for _, t := range tables {
		s.tables[t] = true
	}
	return s
}

// Wrap returns a connection that reports the statements without a scope to t.
func (s *Scoper) Wrap(t testing.TB) func(store.Scope, store.Conn) store.Conn {
	return func(sc store.Scope, c store.Conn) store.Conn { return scopedConn{c, s, t, sc} }
}

type scopedConn struct {
	store.Conn
	scoper *Scoper
	t      testing.TB
	scope  store.Scope
}

func (c scopedConn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	c.check(sql, args)
	return c.Conn.Exec(ctx, sql, args...)
}

func (c scopedConn) Query(ctx context.Context, sql string, each func(store.Row) error, args ...any) error {
	c.check(sql, args)
	return c.Conn.Query(ctx, sql, each, args...)
}

func (c scopedConn) Later(ctx context.Context, s store.Statement) error {
	c.check(s.SQL, s.Args)
	return c.Conn.Later(ctx, s)
}

func (c scopedConn) check(sql string, args []any) {
	if err := c.scoper.Check(c.scope, sql, args); err != nil {
		c.t.Errorf("%v in a statement for a caller:\n%s", err, strings.TrimSpace(sql))
	}
}

// Check returns an error for a statement without a scope, or with another one.
func (s *Scoper) Check(sc store.Scope, sql string, args []any) error {
	v, ok := s.parsed.Load(sql)
	if !ok {
		v, _ = s.parsed.LoadOrStore(sql, s.parse(sql))
	}
	text := v.(scopedText)
	if text.err != nil {
		return text.err
	}
	tenants := []any{sc.Tenant, identity.SystemTenant}
	for _, n := range text.params {
		if n > len(args) || !slices.Contains(tenants, args[n-1]) {
			return fmt.Errorf("$%d is not the caller's tenant", n)
		}
	}
	return nil
}

// scopedText is what a statement's text says: the parameters that tenants are compared
// with, or the table that is compared with none.
type scopedText struct {
	params []int
	err    error
}

var (
	tokens = regexp.MustCompile(`--[^\n]*|'(?:[^']|'')*'|\$\d+|\w+|[^\s\w]`)
	// notAlias are the words that come after a table without an alias.
	notAlias = strings.Fields(`WHERE SET ON JOIN LEFT INNER CROSS ORDER GROUP LIMIT VALUES SELECT RETURNING WINDOW UNION FOR USING AS DO`)
)

// block is a SELECT, or what else is in parentheses, with the conditions in its own
// parentheses.
type block struct {
	words []string
	// inner are its sub-selects.
	inner []*block
}

func (s *Scoper) parse(sql string) scopedText {
	words := slices.DeleteFunc(tokens.FindAllString(sql, -1), func(w string) bool { return strings.HasPrefix(w, "--") })
	var text scopedText
	top, _ := blockOf(words)
	s.visit(top, &text)
	return text
}

// blockOf reads words up to the parenthesis that ends the block.
func blockOf(words []string) (b *block, n int) {
	b = &block{}
	for n < len(words) {
		switch w := words[n]; {
		case w == ")":
			return b, n + 1
		case w == "(" && n+1 < len(words) && (isWord(words[n+1], "SELECT") || isWord(words[n+1], "WITH")):
			inner, used := blockOf(words[n+1:])
			b.inner = append(b.inner, inner)
			b.words = append(b.words, "(", ")")
			n += 1 + used
		case w == "(":
			inner, used := blockOf(words[n+1:])
			b.inner = append(b.inner, inner.inner...)
			b.words = append(append(append(b.words, "("), inner.words...), ")")
			n += 1 + used
		default:
			b.words = append(b.words, w)
			n++
		}
	}
	return b, n
}

func (s *Scoper) visit(b *block, text *scopedText) {
	// The arms of a UNION have conditions of their own.
	for _, words := range arms(b.words) {
		s.visitArm(words, text)
	}
	for _, inner := range b.inner {
		s.visit(inner, text)
	}
}

func arms(words []string) (list [][]string) {
	begin := 0
	for i, w := range words {
		if isWord(w, "UNION") {
			list = append(list, words[begin:i])
			begin = i + 1
		}
	}
	return append(list, words[begin:])
}

func (s *Scoper) visitArm(words []string, text *scopedText) {
	for i := 0; i+1 < len(words); i++ {
		w, table := words[i], words[i+1]
		into := isWord(w, "INTO")
		// FROM a, b: the tables of a list are not looked for, because no statement has one.
		if !into && !isWord(w, "FROM") && !isWord(w, "JOIN") && !isWord(w, "UPDATE") || !s.tables[table] {
			continue
		}
		alias := ""
		if i+2 < len(words) {
			alias = words[i+2]
			if isWord(alias, "AS") && i+3 < len(words) {
				alias = words[i+3]
			}
			if !regexp.MustCompile(`^\w+$`).MatchString(alias) || slices.Contains(notAlias, strings.ToUpper(alias)) {
				alias = ""
			}
		}
		if into {
			s.visitInsert(words[i+1:], text)
			continue
		}
		found := false
		for j := range words {
			if words[j] != "tenant_id" || !belongs(words, j, alias, table) {
				continue
			}
			if compared(words, j, text) {
				found = true
			}
		}
		if !found {
			text.err = fmt.Errorf("tenant_id of %s is compared with nothing", table)
		}
	}
}

// visitInsert reads the words after INTO.
func (s *Scoper) visitInsert(words []string, text *scopedText) {
	if len(words) < 3 || words[1] != "(" || words[2] != "tenant_id" {
		text.err = fmt.Errorf("the first column of %s is not tenant_id", words[0])
		return
	}
	i := slices.Index(words, ")") + 1
	for ; i < len(words) && (isWord(words[i], "VALUES") || isWord(words[i], "SELECT") || words[i] == "("); i++ {
	}
	if i < len(words) {
		note(words[i], text)
	}
}

// note records the parameter that a tenant is compared with.
func note(word string, text *scopedText) {
	if n, err := strconv.Atoi(strings.TrimPrefix(word, "$")); err == nil && word[0] == '$' && !slices.Contains(text.params, n) {
		text.params = append(text.params, n)
	}
}

// belongs reports whether the column at i is that of the table.
func belongs(words []string, i int, alias, table string) bool {
	if i < 2 || words[i-1] != "." {
		return true
	}
	return words[i-2] == alias || alias == "" && words[i-2] == table
}

// compared reports whether the column at i is compared with a value, a list or another
// column, and notes the parameters.
func compared(words []string, i int, text *scopedText) bool {
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return words[i]
	}
	switch next := at(i + 1); {
	case next == "=":
		if at(i+2) == "" {
			return false
		}
		note(at(i+2), text)
		return true
	case isWord(next, "IN"):
		for j := i + 3; at(j) != "" && at(j) != ")"; j++ {
			note(at(j), text)
		}
		return true
	case at(i-1) == "=" || at(i-3) == "=" && at(i-1) == ".":
		return true
	}
	return false
}

func isWord(w, keyword string) bool { return strings.EqualFold(w, keyword) }
