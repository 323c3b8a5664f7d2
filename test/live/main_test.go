// Package live_test tests that runs outlive connections and processes: real servers that
// are killed and restarted, sockets that are cut or never read, two servers on one
// database. The model plays scripts (script); the tools belong to a server that counts
// its calls (desk).
package live_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// place is where a test happens: a database, a model, the tools.
type place struct {
	options harness.Options
	desk    *desk
	model   *harness.Fake
}

// newPlace is a place with a database of its own: the embedded one, or that of
// the URL.
func newPlace(t *testing.T, database string) *place {
	t.Helper()
	agents, err := filepath.Abs(filepath.Join("testdata", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{desk: newDesk(t), model: harness.NewFake(t, play)}
	p.options = harness.Options{DataDir: t.TempDir(), Env: append(p.model.Env(),
		"P8_SCHEMA_DIR="+agents, "MCP_SERVER_DESK="+p.desk.url, "P8_EMBEDDING_MODEL=none")}
	if database != "" {
		p.options.Env = append(p.options.Env, "P8_DATABASE_URL="+database)
	}
	return p
}

// withEffects gives the servers of the place an MCP server that counts.
func (p *place) withEffects(t *testing.T) *effects {
	t.Helper()
	e := newEffects(t)
	p.options.Env = append(p.options.Env, "MCP_SERVER_EFFECTS="+e.url)
	return e
}

// serve starts a server at the place.
func (p *place) serve(t *testing.T) *harness.Server {
	t.Helper()
	return harness.Serve(t, p.options)
}

// p8 runs a command at the place, which must succeed, and returns its output.
func (p *place) p8(t *testing.T, args ...string) string {
	t.Helper()
	code, out, stderr := harness.Run(t, append([]string{"P8_DATA_DIR=" + p.options.DataDir}, p.options.Env...), args...)
	if code != 0 {
		t.Fatalf("p8 %v ended with %d: %s%s", args, code, out, stderr)
	}
	return out
}

// everywhere runs a test on the embedded database and on PostgreSQL.
func everywhere(t *testing.T, test func(t *testing.T, p *place)) {
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, newPlace(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newPlace(t, harness.Postgres(t, "")))
	})
}
