package postgres

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"p8/identity"
	"p8/store"
	"p8/store/storetest"
)

// serverURL names a server whose role may create databases and roles, with
// vector and pg_trgm in template1.
const serverURL = "P8_TEST_POSTGRES_URL"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// emptyDatabase creates a database, drops it when the test ends, and returns
// its URL.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	server := os.Getenv(serverURL)
	if server == "" {
		t.Fatalf("%s is not set: scripts/postgres start prints one", serverURL)
	}
	name := "p8_test_" + strings.ToLower(rand.Text())
	admin := func(sql string) {
		c, err := connect(context.Background(), server)
		if err != nil {
			t.Fatal(err)
		}
		defer disconnect(c)
		if _, err := c.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	admin(`CREATE DATABASE ` + name + ` TEMPLATE template1`)
	t.Cleanup(func() { admin(`DROP DATABASE ` + name + ``) })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL", serverURL)
	}
	u.Path = "/" + name
	return u.String()
}

func quiet(url string) Options {
	return Options{URL: url, Logger: slog.New(slog.DiscardHandler)}
}

func openEngine(t testing.TB) *engine {
	t.Helper()
	e, err := open(t.Context(), quiet(emptyDatabase(t)))
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
	storetest.Run(t, func(t *testing.T) *store.Store { return openStore(t) })
}
