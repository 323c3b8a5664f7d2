package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB) *store.Store {
	t.Helper()
	return database.Open(t)
}

func as(ctx context.Context, user string) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: "acme", UserID: user})
}

func newIngester(t testing.TB, s ingest.Store) *ingest.Ingester {
	t.Helper()
	in, err := ingest.New(ingest.Options{Store: s, SchemaRow: func(a *agent.Agent, text []byte) (store.Schema, error) {
		return store.Schema{Name: a.Document.Key(), Content: a.Prompt, Source: string(text), Hash: "h"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// folder writes files below a new folder, and returns it.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, files)
	return dir
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// take runs an ingestion that must not end early.
func take(t testing.TB, ctx context.Context, in *ingest.Ingester, o ingest.PathsOptions) *ingest.Report {
	t.Helper()
	r, err := in.Paths(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// counts are the totals of a report.
type counts struct{ written, unchanged, skipped, failed, pruned int }

func countsOf(r *ingest.Report) counts {
	return counts{r.Written, r.Unchanged, r.Skipped, r.Failed, r.Pruned}
}
