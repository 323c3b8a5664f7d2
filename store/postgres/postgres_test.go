package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// serverURL names a server whose role may create databases and roles, with
// vector and pg_trgm in template1.
const serverURL = "P8_TEST_POSTGRES_URL"

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := migrated.drop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// emptyDatabase creates a database, drops it when the test ends, and returns
// its URL.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	return databaseLike(t, "template1")
}

// databaseLike is emptyDatabase, with what a template holds.
func databaseLike(t testing.TB, template string) string {
	t.Helper()
	address, drop, err := newDatabase(template)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Fatal(err)
		}
	})
	return address
}

// newDatabase copies a template; drop removes the copy.
func newDatabase(template string) (address string, drop func() error, err error) {
	server := os.Getenv(serverURL)
	u, err := url.Parse(server)
	if server == "" || err != nil {
		return "", nil, fmt.Errorf("%s is not the URL of a server: scripts/postgres start prints one", serverURL)
	}
	name := "p8_test_" + strings.ToLower(rand.Text())
	if err := unused(server, `CREATE DATABASE `+name+` TEMPLATE `+template+` STRATEGY file_copy`); err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error { return dropped(server, name) }, nil
}

func serverOf(t testing.TB) string {
	t.Helper()
	server := os.Getenv(serverURL)
	if server == "" {
		t.Fatalf("%s is not set: scripts/postgres start prints one", serverURL)
	}
	return server
}

func databaseURL(t testing.TB, name string) string {
	t.Helper()
	u, err := url.Parse(serverOf(t))
	if err != nil {
		t.Fatalf("%s is not a URL", serverURL)
	}
	u.Path = "/" + name
	return u.String()
}

func dropped(server, name string) error { return unused(server, `DROP DATABASE `+name) }

// unused runs a statement that needs a database without connections, and waits for
// the last one: a busy server ends those of a closed pool late, and vacuums when it
// likes.
func unused(server, sql string) error {
	c, err := connect(context.Background(), server)
	if err != nil {
		return err
	}
	defer disconnect(c)
	for patience := time.Now().Add(time.Minute); ; {
		_, err := c.Exec(context.Background(), sql)
		var pg *pgconn.PgError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &pg) || pg.Code != "55006" || time.Now().After(patience): // object_in_use
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
}

// execute runs statements in a database, as the user of its URL.
func execute(t testing.TB, url string, statements ...string) {
	t.Helper()
	c, err := connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	for _, sql := range statements {
		if _, err := c.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func quiet(url string) Options {
	return Options{URL: url, Logger: slog.New(slog.DiscardHandler)}
}

// migrated is a database with all migrations, made when it is first asked for. Tests
// that need no other begin with copies of it, which take a tenth of the time.
var migrated template

type template struct {
	once sync.Once
	name string
}

func (m *template) database(t testing.TB) string {
	t.Helper()
	m.once.Do(func() {
		name := "p8_test_" + strings.ToLower(rand.Text())
		server := serverOf(t)
		execute(t, server, `CREATE DATABASE `+name)
		m.name = name
		if err := Migrate(t.Context(), databaseURL(t, name), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	})
	if m.name == "" {
		t.Fatal("there is no migrated database: see the first failure")
	}
	return databaseLike(t, m.name)
}

// drop drops the database after the last test.
func (m *template) drop() error {
	if m.name == "" {
		return nil
	}
	return dropped(os.Getenv(serverURL), m.name)
}

func openEngine(t testing.TB) *engine {
	t.Helper()
	return openAt(t, migrated.database(t))
}

func openAt(t testing.TB, url string) *engine {
	t.Helper()
	e, err := open(t.Context(), quiet(url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func openStore(t testing.TB) *store.Store { return store.New(openEngine(t)) }

// analyze gives the planner its statistics.
func analyze(t testing.TB, e *engine) {
	t.Helper()
	execute(t, e.readers.Config().ConnString(), `VACUUM ANALYZE`)
}

func caller(ctx context.Context) context.Context {
	return identity.With(ctx, identity.Identity{UserID: "u", Name: "Ute"})
}

func userMessage(session, text string) *store.Message {
	return &store.Message{SessionID: session, Type: store.MessageUser, Content: &text}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *store.Store {
		e := openEngine(t)
		e.wrap = scoped.of(t, e).Wrap(t)
		return store.New(e)
	}, fork)
}

// scoped checks the scope of the store's statements.
var scoped scoper

type scoper struct {
	once   sync.Once
	scoper *storetest.Scoper
}

// of returns the Scoper for the tables of the catalog.
func (s *scoper) of(t testing.TB, e *engine) *storetest.Scoper {
	t.Helper()
	s.once.Do(func() {
		rows, err := e.readers.Query(t.Context(), `SELECT c.table_name::text FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
			WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND column_name = 'tenant_id'`)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(tables) < 20 {
			t.Fatal(tables, err)
		}
		s.scoper = storetest.NewScoper(tables)
	})
	return s.scoper
}

// fork keeps a copy of each table's rows in a second schema of one database, and
// puts them back before each use: far cheaper than a database for each.
func fork(t *testing.T, fill func(*store.Store)) func() *store.Store {
	e := openEngine(t)
	fill(store.New(e))
	rows, err := e.writers.Query(t.Context(), `SELECT c.table_name, string_agg(quote_ident(c.column_name), ', ')
		FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	keep, restore := "CREATE SCHEMA kept;", ""
	var table, columns string
	if _, err := pgx.ForEachRow(rows, []any{&table, &columns}, func() error {
		keep += fmt.Sprintf("CREATE TABLE kept.%[1]s AS SELECT %[2]s FROM %[1]s;", table, columns)
		restore += fmt.Sprintf("DELETE FROM %[1]s; INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM kept.%[1]s;", table, columns)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.writers.Exec(t.Context(), keep); err != nil {
		t.Fatal(err)
	}
	return func() *store.Store {
		if _, err := e.writers.Exec(t.Context(), restore); err != nil {
			t.Fatal(err)
		}
		return store.New(e)
	}
}

func TestClosed(t *testing.T) {
	s := openStore(t)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	var failure *store.Failure
	if err := s.Users().Put(caller(t.Context()), &store.User{Name: "x"}); !errors.As(err, &failure) {
		t.Errorf("writing to a closed store: %v", err)
	}
	if _, err := s.Users().Get(caller(t.Context())); !errors.As(err, &failure) {
		t.Errorf("reading from a closed store: %v", err)
	}
}
