// Package knowledge tests the knowledge base end to end, on the embedded store and on
// PostgreSQL, with the real binary: both answer alike, nobody sees another's rows, a kill
// loses and duplicates nothing, no query breaks the engine, and the operator's commands
// work.
//
// The environment sets the sizes; the defaults are those of the short form, then of the
// long one:
//
//	P8_TEST_ENTITIES  synthetic rows in both engines (1000; 10000)
//	P8_TEST_FILES     files of the upserts that are killed (300; 900)
//	P8_TEST_SECONDS   how long fuzzed queries run, at 1000 a second (1; 10)
package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// patience bounds waits that take seconds at most.
const patience = time.Minute

// size is a number that the environment may set.
func size(t *testing.T, name string, otherwise int) int {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, not a number above 0", name, value)
	}
	return n
}

// place is where p8 keeps things: a new database of one of the engines.
type place struct {
	name string
	dir  string
	// url is that of PostgreSQL, "" for the embedded store in dir.
	url string
}

// places are a new database of each engine.
func places(t *testing.T) []*place {
	t.Helper()
	return []*place{
		{name: "embedded", dir: t.TempDir()},
		{name: "PostgreSQL", dir: t.TempDir(), url: harness.Postgres(t, "")},
	}
}

// onBoth runs a test on each engine.
func onBoth(t *testing.T, test func(*testing.T, *place)) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}

// env makes a p8 use the place.
func (p *place) env(more ...string) []string {
	env := append([]string{"P8_DATA_DIR=" + p.dir, "OLLAMA_HOST=127.0.0.1:1", "P8_MOMENT_TOKEN_THRESHOLD=100000000"}, more...)
	if p.url != "" {
		env = append(env, "P8_DATABASE_URL="+p.url)
	}
	return env
}

// run runs p8, which must succeed, and returns its output.
func (p *place) run(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := harness.Run(t, p.env(), args...)
	if code != 0 {
		t.Fatalf("%s: p8 %q ended with %d:\n%s%s", p.name, args, code, stdout, stderr)
	}
	return stdout
}

// serve starts a server on the place.
func (p *place) serve(t *testing.T, more ...string) *harness.Server {
	t.Helper()
	return harness.Serve(t, harness.Options{DataDir: p.dir, Env: p.env(more...)})
}

// open opens the store in this process, until the test ends or it is closed.
func (p *place) open(t *testing.T) *store.Store {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	var s *store.Store
	var err error
	if p.url != "" {
		s, err = postgres.Open(t.Context(), postgres.Options{URL: p.url, Logger: log})
	} else {
		s, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(p.dir, "p8.db"), Logger: log})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// execute runs statements in the database itself, past p8.
func (p *place) execute(t *testing.T, statements ...string) {
	t.Helper()
	if p.url != "" {
		harness.Execute(t, p.url, statements...)
		return
	}
	c, err := sqlite3.Open(filepath.Join(p.dir, "p8.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, sql := range statements {
		if err := c.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// offlineModel is the embedding model that p8 uses by default.
func offlineModel(t *testing.T) *offline.Model {
	t.Helper()
	model, err := offline.New(offline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// embedAll makes the vectors that wait, and the index for them when they are
// there, which takes a fraction of the time that adding one after the other does.
func embedAll(t *testing.T, s *store.Store) {
	t.Helper()
	model, m := offlineModel(t), s.Maintenance()
	for {
		tasks, err := m.EmbeddingTasks(t.Context(), 2000)
		if err != nil {
			t.Fatal(err)
		}
		if len(tasks) == 0 {
			break
		}
		texts, done := make([]string, len(tasks)), make([]store.Embedding, len(tasks))
		for i, task := range tasks {
			texts[i] = task.Text
		}
		for i, made := range model.Embed(t.Context(), texts) {
			if made.Err != nil {
				t.Fatal(made.Err)
			}
			done[i] = store.Embedding{Task: tasks[i], Vector: made.Vector}
		}
		if _, err := m.PutEmbeddings(t.Context(), model.Name(), model.Dimensions(), done...); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.PrepareModel(t.Context(), model.Name(), model.Dimensions()); err != nil {
		t.Fatal(err)
	}
}

// as is the context of a caller; user "" is anonymous.
func as(t *testing.T, tenant, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{TenantID: tenant, UserID: user})
}

// send sends a request with headers, a name and a value in turn, and returns the
// answer, whatever its status.
func send(t *testing.T, method, url, body string, headers ...string) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer
}

// object is {name: value, …}, a name and a value in turn.
func object(t *testing.T, fields ...any) string {
	t.Helper()
	m := map[string]any{}
	for i := 0; i+1 < len(fields); i += 2 {
		m[fields[i].(string)] = fields[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// write writes a file below a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
