package dream_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store/postgres"
)

// onPostgres returns a kit on a database of its own.
func onPostgres(t *testing.T, turns ...scripted.Turn) *kit {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Options{URL: harness.Postgres(t, ""), Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	k := &kit{T: t, store: s}
	k.process(turns...)
	return k
}

// TestReplicas: only one of several replicas dreams for a user at a time, also if they
// start late; other users do not wait.
func TestReplicas(t *testing.T) {
	k := onPostgres(t)
	ann, bob := as(t.Context(), "ann"), as(t.Context(), "bob")
	k.live(ann)
	k.live(bob)
	asked, goOn := make(chan struct{}), make(chan struct{})
	slow := answer("late-trains", "project-alpha")
	slow.Before = func(ctx context.Context, chunk int) error {
		if chunk > 0 {
			return nil
		}
		close(asked)
		return scripted.Until(0, goOn)(ctx, chunk)
	}
	k.process(slow, profile("Ann."))
	first, model := k.Service, k.model
	done := make(chan dream.Result, 1)
	go func() {
		res, err := first.Dream(ann, dream.Request{})
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	<-asked
	k.process(answer("late-trains", "project-alpha"), profile("Bob."))
	if res := k.dreams(ann, dream.Request{}); res.Status != dream.StatusBusy || res.IOTokens != 0 {
		t.Errorf("%+v", res)
	}
	if res := k.dreams(bob, dream.Request{}); res.Status != dream.StatusCompleted {
		t.Errorf("%+v", res)
	}
	close(goOn)
	if res := <-done; res.Status != dream.StatusCompleted || res.Phase2.MomentsSaved != 1 {
		t.Errorf("%+v", res)
	}
	if res := k.dreams(ann, dream.Request{}); res.Status != dream.StatusSkippedNoData {
		t.Errorf("%+v", res)
	}
	model.AssertDone(t)
	k.model.AssertDone(t)
	for _, ctx := range []context.Context{ann, bob} {
		if got := k.kept(ctx); !slices.Equal(got, []string{"Late Trains"}) {
			t.Errorf("%q", got)
		}
		if got := k.reached(ctx, "project-alpha"); !slices.Contains(got, "late-trains") {
			t.Errorf("back: %q", got)
		}
	}
}

// TestAllAtOnce: eight replicas start at the same moment.
func TestAllAtOnce(t *testing.T) {
	k := onPostgres(t)
	ann := as(t.Context(), "ann")
	k.live(ann)
	k.process(answer("late-trains", "project-alpha"), profile("Ann."))
	const replicas = 8
	results := make(chan dream.Result, replicas)
	until := time.Now()
	for range replicas {
		s, err := dream.New(k.optionsOf())
		must(t, err)
		go func() {
			res, err := s.Dream(ann, dream.Request{Until: until})
			if err != nil {
				t.Error(err)
			}
			results <- res
		}()
	}
	completed := 0
	for range replicas {
		switch res := <-results; res.Status {
		case dream.StatusCompleted: // one replica dreams, the others report it
			completed++
		case dream.StatusBusy:
		default:
			t.Errorf("%+v", res)
		}
	}
	if completed == 0 {
		t.Error("nobody dreamt")
	}
	k.model.AssertDone(t)
	if got := k.kept(ann); !slices.Equal(got, []string{"Late Trains"}) {
		t.Errorf("%q", got)
	}
}
