package harness

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresEnv names a PostgreSQL server whose role may create databases and
// roles, with vector and pg_trgm in template1.
const postgresEnv = "P8_TEST_POSTGRES_URL"

// Postgres creates an empty database, which is dropped when the test ends, and
// returns its URL. template is the database to copy, "" for the server's own.
func Postgres(t testing.TB, template string) string {
	t.Helper()
	if template == "" {
		template = "template1"
	}
	name := "p8_test_" + strings.ToLower(rand.Text())
	server := postgresServer(t)
	Execute(t, server, `CREATE DATABASE `+name+` TEMPLATE `+template+` STRATEGY file_copy`)
	t.Cleanup(func() { drop(t, server, name) })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL", postgresEnv)
	}
	u.Path = "/" + name
	return u.String()
}

// drop drops a database. Connections of killed processes stay for a while, and the
// role may not end the server's own vacuum.
func drop(t testing.TB, server, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for {
		_, err := c.Exec(ctx, `DROP DATABASE `+name+` WITH (FORCE)`)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func postgresServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv(postgresEnv)
	if server == "" {
		t.Fatalf("%s is not set: scripts/postgres start prints one", postgresEnv)
	}
	return server
}

// Execute runs statements in a PostgreSQL database, each on its own.
func Execute(t testing.TB, database string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, sql := range statements {
		if _, err := c.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}
