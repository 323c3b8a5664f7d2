package worker_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

// database is a store, and how to open the queue beside it.
type database struct {
	store *store.Store
	jobs  jobs.Options
}

func onSQLite(t *testing.T) database {
	t.Helper()
	path := t.TempDir() + "/p8.db"
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Logger: silent()})
	if err != nil {
		t.Fatal(err)
	}
	return database{s, jobs.Options{SQLite: path}}
}

func onPostgres(t *testing.T) database {
	t.Helper()
	url := harness.Postgres(t, "")
	s, err := postgres.Open(t.Context(), postgres.Options{URL: url, Logger: silent()})
	if err != nil {
		t.Fatal(err)
	}
	return database{s, jobs.Options{PostgresURL: url}}
}

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// process runs p8 with a model: the queue works and the worker watches until stop is
// called.
func process(t *testing.T, db database, m embed.Model) (stop func()) {
	t.Helper()
	o := db.jobs
	o.PollInterval, o.Logger = 50*time.Millisecond, silent()
	q, err := jobs.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Options{Store: db.store.Maintenance(), Model: m, Logger: silent()})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Register(q); err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Watch(ctx, q)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
		last, end := context.WithTimeout(context.Background(), 10*time.Second)
		defer end()
		if err := q.Close(last); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// await waits until that many vectors of the model are stored and no task is queued.
func await(t *testing.T, db database, m embed.Model, vectors int64) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		st, err := db.store.Maintenance().EmbeddingStatus(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st.Models[m.Name()] == vectors && st.Waiting == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("want %d vectors of %s: %+v", vectors, m.Name(), st)
		}
	}
}

func lexical(t *testing.T, dimensions int) embed.Model {
	t.Helper()
	m, err := offline.New(offline.Options{Dimensions: dimensions})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWithTheStore: rows are written, found by their vectors, changed, and embedded anew
// when the model changes.
func TestWithTheStore(t *testing.T) {
	for name, open := range map[string]func(*testing.T) database{"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			t.Cleanup(func() {
				if err := db.store.Close(); err != nil {
					t.Error(err)
				}
			})
			ctx := identity.With(t.Context(), identity.Identity{UserID: "ada"})
			put := func(name, text string) {
				t.Helper()
				if err := db.store.Resources().Put(ctx, &store.Resource{Name: name, Content: text}); err != nil {
					t.Fatal(err)
				}
			}
			nearest := func(m embed.Model, question string) string {
				t.Helper()
				v, err := m.EmbedQuery(ctx, question)
				if err != nil {
					t.Fatal(err)
				}
				found, err := db.store.Search(ctx, store.SearchQuery{Model: m.Name(), Vector: v, MinSimilarity: m.MinSimilarity()})
				if err != nil {
					t.Fatal(err)
				}
				if len(found) == 0 {
					return ""
				}
				return found[0].Key
			}

			m := lexical(t, 384)
			for i := range 300 {
				put(fmt.Sprint("note-", i), fmt.Sprintf("note number %d about nothing in particular", i))
			}
			stop := process(t, db, m)
			await(t, db, m, 300) // written before the process began
			put("migration", "how databases are migrated between versions")
			await(t, db, m, 301) // written while it runs
			if got := nearest(m, "migrate a database"); got != "migration" {
				t.Errorf("found %q", got)
			}
			put("migration", "birds fly south in autumn")
			await(t, db, m, 301)
			if got := nearest(m, "migrate a database"); got == "migration" {
				t.Error("found by what it no longer says")
			}
			if got := nearest(m, "birds in autumn"); got != "migration" {
				t.Errorf("found %q by what it says now", got)
			}
			stop()

			other := lexical(t, 512)
			if got := nearest(other, "birds in autumn"); got != "" {
				t.Errorf("a new model found %q among the vectors of the old one", got)
			}
			stop = process(t, db, other)
			await(t, db, other, 301)
			if got := nearest(other, "birds in autumn"); got != "migration" {
				t.Errorf("found %q by the new model", got)
			}
			stop()
		})
	}
}
