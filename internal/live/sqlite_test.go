package live_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/store"
)

const runID = "01980d3a-0000-7000-8000-000000000001"

// openStore opens a database with a run, and returns the context of its caller.
func openStore(tb testing.TB) (*store.Store, context.Context) {
	tb.Helper()
	ctx := identity.With(context.WithoutCancel(tb.Context()), identity.Identity{UserID: "ann"})
	db := database.Open(tb)
	hello := "hello"
	err := db.BeginRun(ctx, store.RunStart{
		Run:      store.Run{ID: runID, AgentName: "a", Process: "me"},
		Session:  store.Session{ID: "s"},
		Messages: []*store.Message{{SessionID: "s", Type: store.MessageUser, Content: &hello}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return db, ctx
}

func TestARunInADatabase(t *testing.T) {
	db, ctx := openStore(t)
	o := live.Options{
		RunID: runID, Process: "me", Store: db, Window: 4 << 10, Every: time.Millisecond,
		Failed: func(err error) { t.Error(err) }, Stop: func(err error) { t.Errorf("stopped: %v", err) },
	}
	l := live.Open(ctx, o)
	appendTexts(l, 1, 2001)
	if err := l.Write(store.RunWrite{}, text(2001)); err != nil {
		t.Fatal(err)
	}
	// The context of a reader has no identity: the log does not ask for one.
	wantTexts(t, take(t, l.Read(t.Context(), 0), 2001), 1, 1, 2001)
	l.Append(event.NewText("large: " + string(make([]byte, 100<<10))))
	l.Close()

	// Another process claims the run, and a third one follows it.
	if _, err := db.Maintenance().RecoverRuns(ctx, "other", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := len(take(t, live.Follow(ctx, db, runID, live.FollowOptions{}), math.MaxInt)); n != 2002 {
		t.Errorf("an interrupted run has %d events", n)
	}
	r, err := db.ClaimRun(ctx, runID, "other", store.RunsAllowed{})
	if err != nil || r.LastSeq != 2002 {
		t.Fatalf("%+v, %v", r, err)
	}
	o.Process, o.After = "other", r.LastSeq
	l = live.Open(ctx, o)
	var readers sync.WaitGroup
	readers.Go(func() {
		follow := live.Follow(ctx, db, runID, live.FollowOptions{After: 2002, Poll: time.Millisecond})
		wantTexts(t, take(t, follow, math.MaxInt), 1, 2003+live.Gap, 500)
	})
	readers.Go(func() { wantTexts(t, take(t, l.Read(ctx, 2002), math.MaxInt), 1, 2003+live.Gap, 500) })
	appendTexts(l, 1, 500)
	if err := l.Write(store.RunWrite{Status: store.RunCompleted, Reason: event.ReasonStop}, text(500)); err != nil {
		t.Fatal(err)
	}
	l.Close()
	readers.Wait()
	if r, err := db.Run(ctx, runID); err != nil || r.Status != store.RunCompleted || r.LastSeq != 2502+live.Gap {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestADatabaseSaysWhenToStop(t *testing.T) {
	db, ctx := openStore(t)
	heard := make(chan error, 9)
	l := live.Open(ctx, live.Options{RunID: runID, Process: "me", Store: db, Stop: func(err error) { heard <- err }})
	defer l.Close()
	if _, err := db.StopRun(ctx, runID); err != nil {
		t.Fatal(err)
	}
	l.Append(text(1))
	if err := <-heard; err != live.ErrStopped {
		t.Errorf("heard %v", err)
	}
}
