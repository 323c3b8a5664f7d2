package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kit is a service over a real store and a real queue.
type kit struct {
	*Service
	t     *testing.T
	store *store.Store
	queue *jobs.Queue
	// stopped are the runs that the chat was asked to stop; it ends those that ends is true for.
	stopped []string
	ends    bool
	forgot  []string
	fail    error
}

func newKit(t *testing.T) *kit {
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	q, err := jobs.Open(t.Context(), jobs.Options{SQLite: filepath.Join(dir, "p8.db"), Turn: s.Maintenance().Turn, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close(context.Background()) })
	k := &kit{t: t, store: s, queue: q, ends: true}
	k.Service = New(Options{Store: s, Chat: k, Queue: q, Logger: slog.New(slog.DiscardHandler), Local: func(ctx context.Context) error {
		id, err := identity.From(ctx)
		k.forgot = append(k.forgot, id.TenantID+"/"+id.UserID)
		return errors.Join(err, k.fail)
	}})
	k.must(q.Register("remember", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }}))
	k.must(q.Register(Kind, k.Worker()))
	return k
}

// Stop is the chat's.
func (k *kit) Stop(ctx context.Context, run string) (store.Run, error) {
	k.stopped = append(k.stopped, run)
	r, err := k.store.StopRun(ctx, run)
	if k.ends && err == nil {
		_, err = k.store.WriteRun(ctx, store.RunWrite{RunID: run, Process: "p", Status: store.RunCancelled})
	}
	return r, err
}

func (k *kit) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

func as(t *testing.T, tenant, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{TenantID: tenant, UserID: user})
}

// talk gives a user a run that is under way, and jobs.
func (k *kit) talk(ctx context.Context, text string) (run string) {
	k.t.Helper()
	id, err := identity.From(ctx)
	k.must(err)
	run = uuid.NewString()
	k.must(k.store.BeginRun(ctx, store.RunStart{
		Run: store.Run{ID: run, Process: "p"}, Session: store.Session{ID: "s"},
		Messages: []*store.Message{{Type: store.MessageUser, Content: &text}},
	}))
	for _, key := range []string{"one", "two"} {
		_, err := k.queue.Enqueue(ctx, "remember", map[string]string{"tenant": id.TenantID, "user": id.UserID, "text": key}, jobs.EnqueueOptions{UniqueKey: key + id.TenantID + id.UserID, RunAt: time.Now().Add(time.Hour)})
		k.must(err)
	}
	return run
}

// work runs the worker for a deletion, as the queue would.
func (k *kit) work(e store.Erasure) error {
	raw, err := json.Marshal(args{e.ID})
	k.must(err)
	return k.Worker().Run(k.t.Context(), raw)
}

func (k *kit) export(ctx context.Context) string {
	k.t.Helper()
	var b bytes.Buffer
	k.must(k.Export(ctx, &b))
	return b.String()
}

func TestDeletion(t *testing.T) {
	k := newKit(t)
	ann, elsewhere, bob := as(t, "t", "ann"), as(t, "t2", "ann"), as(t, "t", "bob")
	run := k.talk(ann, "of ann")
	for _, other := range []context.Context{elsewhere, bob} {
		k.talk(other, "of another")
	}
	if out := k.export(ann); !strings.Contains(out, "of ann") || strings.Contains(out, "another") {
		t.Errorf("exported: %s", out)
	}
	e, err := k.Begin(ann)
	k.must(err)
	again, err := k.Begin(ann)
	k.must(err)
	if again != e {
		t.Errorf("%+v, %+v", e, again)
	}
	// A run of another server does not end at once.
	k.ends = false
	if pause, ok := jobs.AgainAfter(k.work(e)); !ok || pause != time.Second || k.stopped[0] != run {
		t.Errorf("while a run is under way: %v %v %v", pause, ok, k.stopped)
	}
	if out := k.export(ann); !strings.Contains(out, "of ann") {
		t.Error("rows were deleted while a run wrote")
	}
	// The worker dies in the middle.
	k.ends, k.fail = true, errors.New("killed")
	if err := k.work(e); !errors.Is(err, k.fail) {
		t.Error(err)
	}
	k.fail = nil
	k.must(k.work(e))
	k.must(k.work(e)) // twice
	done, err := k.Status(ann)
	k.must(err)
	if !done.Finished() || done.Rows == 0 {
		t.Errorf("%+v", done)
	}
	if out := k.export(ann); strings.Count(out, "\n") != 2 {
		t.Errorf("left: %s", out)
	}
	list, err := k.queue.List(t.Context(), jobs.Filter{})
	k.must(err)
	for _, job := range list {
		if strings.Contains(string(job.Args)+job.Key, "ann") && !strings.Contains(string(job.Args), "t2") {
			t.Errorf("the job %d names the user: %s %s", job.ID, job.Args, job.Key)
		}
	}
	if len(list) != 5 { // two of each other user, and that of the deletion
		t.Errorf("%d jobs are left", len(list))
	}
	for _, other := range []context.Context{elsewhere, bob} {
		if out := k.export(other); !strings.Contains(out, "of another") {
			t.Errorf("of another: %s", out)
		}
	}
	k.talk(ann, "a new beginning")
}

// A deletion whose job was lost, and those of users whom other servers deleted.
func TestWatch(t *testing.T) {
	k := newKit(t)
	ann, bob := as(t, "t", "ann"), as(t, "t", "bob")
	_, err := k.store.Erasures().Begin(ann) // and the process dies
	k.must(err)
	_, err = k.store.Erasures().Begin(bob)
	k.must(err)
	k.must(k.Erase(bob, true))
	k.forgot = nil
	w := watcher{Service: k.Service, forgot: map[string]bool{}}
	k.must(w.look(t.Context()))
	k.must(w.look(t.Context()))
	if got := strings.Join(k.forgot, " "); got != "t/ann t/bob" {
		t.Errorf("forgot %s", got)
	}
	list, err := k.queue.List(t.Context(), jobs.Filter{Kinds: []string{Kind}})
	k.must(err)
	if len(list) != 1 {
		t.Errorf("%d jobs", len(list))
	}
	k.must(k.Erase(ann, true))
	k.must(w.look(t.Context()))
	if len(k.forgot) != 5 { // ann's by Erase before its steps and after them, and again at the end
		t.Errorf("forgot %v", k.forgot)
	}
}

// A deletion stops what the user says in a session of another user, who keeps it.
func TestDeletionOfAGuest(t *testing.T) {
	k := newKit(t)
	ann, bob := as(t, "t", "ann"), as(t, "t", "bob")
	k.talk(ann, "of ann")
	own := k.talk(bob, "of bob")
	share := store.Share{SessionID: "s", UserID: "ann", Role: store.ShareWrite}
	k.must(k.store.PutShare(bob, &share))
	guest, _, err := k.store.OpenShare(ann, share.ID)
	k.must(err)
	text := "of a guest"
	speaks, waits := uuid.NewString(), uuid.NewString()
	for _, run := range []string{speaks, waits} {
		k.must(k.store.BeginRun(identity.With(t.Context(), guest), store.RunStart{
			Run: store.Run{ID: run, Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{{Type: store.MessageUser, Content: &text}},
		}))
	}
	_, err = k.store.WriteRun(identity.With(t.Context(), guest), store.RunWrite{RunID: waits, Process: "p", Status: store.RunWaiting})
	k.must(err)
	e, err := k.Begin(ann)
	k.must(err)
	k.must(k.work(e))
	for run, want := range map[string]string{speaks: store.RunCancelled, waits: store.RunCancelled, own: store.RunRunning} {
		if r, err := k.store.Run(bob, run); err != nil || r.Status != want {
			t.Errorf("%s, want %s: %v", r.Status, want, err)
		}
	}
	rows, err := k.store.Messages(bob, "s", store.MessageFilter{})
	k.must(err)
	if len(rows) != 3 {
		t.Errorf("bob has %d rows", len(rows))
	}
}

func TestForgetIsPatientOnce(t *testing.T) {
	k := newKit(t)
	ann := as(t, "t", "ann")
	k.talk(ann, "x")
	_, err := k.Begin(ann)
	k.must(err)
	k.ends = false
	k.must(k.Erase(ann, false)) // its process is dead
	if out := k.export(ann); strings.Count(out, "\n") != 2 {
		t.Errorf("left: %s", out)
	}
}

// failing is a writer whose disk is full.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("full")
	}
	return len(b), nil
}

func TestExport(t *testing.T) {
	k := newKit(t)
	ann := as(t, "t", "ann")
	k.talk(ann, strings.Repeat("ä<&", 50_000))
	if err := k.Export(ann, &failing{100_000}); err == nil || err.Error() != "full" {
		t.Error(err)
	}
	if err := k.Export(as(t, "t", ""), new(bytes.Buffer)); !errors.Is(err, store.ErrForbidden) {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(k.export(ann)), "\n")
	var last Last
	k.must(json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	if !last.End || last.Rows["messages"] != 1 || last.Rows["sessions"] != 1 || last.Rows["users"] != 1 || !strings.HasPrefix(lines[0], `{"export":"p8","tenant_id":"t","user_id":"ann"`) {
		t.Errorf("%s … %+v", lines[0], last)
	}
}
